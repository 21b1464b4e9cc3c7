import { createHash } from 'node:crypto';
import type { Evidence } from '../../model/evidence.ts';
import type { Report } from '../../model/report.ts';
import type { Block, BlockKind, BlockOf, CaseItem } from '../document/block.ts';
import { type SectionName, renderDocument } from '../document/document.ts';
import { frame, trim } from '../document/fit.ts';
import { escapeHtml } from '../escape/html.ts';
import { describeVerdict } from '../wording.ts';
import { marks, renderLine, renderText } from './line.ts';
import { pageScript, pageStyle } from './page-assets.ts';
import { renderPageData } from './page-data.ts';

export interface PageOptions {
  /** The results of single iterations, if they are available. */
  evidence?: Evidence | null;
  /** In bytes of UTF-8. People open a page from a mail or an artifact, in a hurry. */
  maxBytes?: number;
}

const defaultMaxBytes = 20 * 1024 * 1024;
const maxPlainCases = 100;

/**
 * Renders `report.html`: one page without other files. Its markup has the verdict; its script draws the rest from JSON in the page. Its
 * content security policy lets nothing else run, load or leave: it names the script and the style by their hashes.
 */
export function renderHtml(report: Report, { evidence = null, maxBytes = defaultMaxBytes }: PageOptions = {}): string {
  const head = renderHead(report);
  const body = renderBody(report);
  const room = maxBytes - Buffer.byteLength(head + body + pageScript) - 1000;
  return `<!doctype html>
<html lang="en">
${head}
<body>
${body}
<script type="application/json" id="data">${renderPageData(report, evidence, room)}</script>
<script>${pageScript}</script>
</body>
</html>
`;
}

function renderHead(report: Report): string {
  const policy = [
    `default-src 'none'`,
    `script-src '${hash(pageScript)}'`,
    `style-src '${hash(pageStyle)}'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ].join('; ');
  return `<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${marks[report.verdict.outcome]} ${describeVerdict(report)}</title>
<style>${pageStyle}</style>
</head>`;
}

/** Hashes an inline element in the form of the content security policy (CSP Level 3 §2.3.1). */
function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function renderBody(report: Report): string {
  const sections = renderDocument(report);
  const select = (...names: SectionName[]) =>
    trim(
      sections.filter(({ name }) => names.includes(name)),
      frame,
    );
  const { outcome } = report.verdict;
  return `<a class="skip" href="#cases">Skip to the cases</a>
<header class="bar">
<p class="product">MCP eval gate</p>
<p class="revision">${renderRevision(report)}</p>
<button type="button" id="theme" class="quiet" hidden></button>
</header>
<main id="main">
<section class="verdict ${outcome}" aria-labelledby="verdict">
<span class="seal" aria-hidden="true">${marks[outcome]}</span>
<div>
${renderBlocks(select('verdict', 'totals'))}</div>
</section>
${renderBlocks(select('notes'))}<div id="app">${renderWithoutScript(select('suite'))}</div>
</main>
<footer><p>Written by ${renderText(`${report.generator.name} ${report.generator.version}`)}. The page loads nothing and sends nothing.</p></footer>`;
}

function renderRevision({ revision, startedAt }: Report): string {
  const parts = [revision?.branch ?? null, revision?.commit?.slice(0, 7) ?? null].filter((part) => part !== null);
  const when = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(startedAt) ? `${startedAt.slice(0, 16).replace('T', ' ')} UTC` : '';
  return [...parts.map((part) => `<bdi>${renderText(part)}</bdi>`), escapeHtml(when)].filter(Boolean).join(' · ');
}

function renderBlocks(blocks: readonly Block[]): string {
  return blocks.map((block) => renderBlock(block)).join('');
}

function renderBlock<K extends BlockKind>(block: BlockOf<K>): string {
  const render: ((block: BlockOf<K>) => string) | undefined = renderers[block.kind];
  return render === undefined ? '' : render(block);
}

/** Renders the blocks that a reader sees before any script runs; the script draws the others from the page's data. */
const renderers: { [K in BlockKind]?: (block: BlockOf<K>) => string } = {
  verdict: ({ title, part, why }) =>
    [
      `<h1 id="verdict">${title}</h1>\n`,
      part === null ? '' : `<p class="totals">${part}</p>\n`,
      why === null ? '' : `<p class="reason">${renderLine(why)}</p>\n`,
    ].join(''),
  text: ({ line }) => `<p class="totals">${renderLine(line)}</p>\n`,
  output: ({ title, lines }) => `<pre tabindex="0" aria-label="${title}">${lines.map(renderText).join('\n')}</pre>\n`,
  list: ({ items }) =>
    renderList(
      'reasons',
      items.map((lines) => lines.map(renderLine).join('<br>')),
    ),
  notes: ({ items }) => renderList('notes', items.map(renderLine)),
  footer: ({ lines }) =>
    lines
      .map(({ line, level }) => `<p class="${level === 'brief' ? 'totals' : 'server'}">${renderLine(line)}</p>\n`)
      .join(''),
};

/** Renders what did not pass, and why, for a browser that runs no scripts. */
function renderWithoutScript(blocks: readonly Block[]): string {
  const cases = blocks.flatMap((block) => (block.kind === 'cases' ? block.failed : []));
  const items = cases.slice(0, maxPlainCases).map(renderPlainCase);
  const hidden = cases.length - items.length;
  return `<noscript>
<h2 id="cases">Cases that did not pass</h2>
${renderList('plain', [...items, ...(hidden > 0 ? [`and ${hidden} more, which report.json lists`] : [])]) || '<p>There are none.</p>\n'}<p>Scripts are off here; with them the page shows every case and its iterations.</p>
</noscript>`;
}

function renderPlainCase({ title, counts, failures }: CaseItem): string {
  const reason = failures[0]?.reasons[0];
  return renderLine([
    { kind: 'name', text: title },
    `, ${counts}`,
    ...(reason === undefined ? [] : [': ', { kind: 'prose' as const, text: reason }]),
  ]);
}

function renderList(name: string, items: readonly string[]): string {
  return items.length === 0
    ? ''
    : `<ul class="${name}">\n${items.map((item) => `<li>${item}</li>`).join('\n')}\n</ul>\n`;
}
