import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Evidence } from '../../model/evidence.ts';
import type { Report } from '../../model/report.ts';
import type { Difference } from '../../model/difference.ts';
import { pairLines, type ShownLine, splitMarked } from '../differences.ts';
import { asMark, asName, asProse, type Block, type Line, type Renderers, renderBlocks } from '../document/block.ts';
import { type SectionName, renderDocument } from '../document/document.ts';
import { frame, readSpan, trim } from '../document/fit.ts';
import { escapeHtml } from '../escape/html.ts';
import { flattenText, splitCode } from '../escape/plain.ts';
import { splitReason } from '../failures.ts';
import { truncateText } from '../truncate.ts';
import { describeVerdict } from '../wording.ts';
import { pageScript, pageStyle } from './page-assets.ts';
import { type LinkLine, renderPageData } from './page-data.ts';

export interface PageOptions {
  /** The results of single iterations, if they are available. */
  evidence?: Evidence | null;
  /** The pages of the repository that the page links; by default it links none. */
  links?: RepositoryPages | null;
  /** In bytes of UTF-8. People open a page from a mail or an artifact, in a hurry. */
  maxBytes?: number;
}

/** The pages of a repository at its host. */
export interface RepositoryPages {
  /** `https://github.com/owner/name`. */
  repositoryUrl: string;
  /** The page of the run that the report is from; null if it has none. */
  run: { label: string; url: string } | null;
  /** Finds the address of a line at the tested commit; null if it is in no file of the repository. */
  linkLine: LinkLine;
}

const defaultMaxBytes = 20 * 1024 * 1024;
const maxPlainCases = 100;
const marks = { passed: '✓', failed: '✗', inconclusive: '?', added: '+', minor: '·' };

/**
 * Renders `report.html`: one page without other files. Its markup has the verdict; its script draws the rest from JSON in the page, which
 * is compressed if it is large. Its content security policy lets nothing else run, load or leave: it names the script and the style by their hashes.
 */
export function renderHtml(
  report: Report,
  { evidence = null, links = null, maxBytes: most = defaultMaxBytes }: PageOptions = {},
): string {
  const head = renderHead(report);
  const body = renderBody(report, links);
  const linkLine = links?.linkLine ?? (() => null);
  const maxBytes = most - Buffer.byteLength(head + body + pageScript) - 1000;
  return `<!doctype html>
<html lang="en">
${head}
<body>
${body}
${renderData(renderPageData(report, { evidence, linkLine, maxBytes }))}
<script>${pageScript}</script>
</body>
</html>
`;
}

/** In UTF-16 units. A browser reads a larger script element more slowly than it decompresses one. */
const maxPlainData = 200_000;

function renderData(json: string): string {
  if (json.length <= maxPlainData) return `<script type="application/json" id="data">${json}</script>`;
  return `<script type="application/gzip" id="data">${gzipSync(json).toString('base64')}</script>`;
}

function renderHead(report: Report): string {
  const policy = [
    `default-src 'none'`,
    `script-src '${hashInline(pageScript)}'`,
    `style-src '${hashInline(pageStyle)}'`,
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
export function hashInline(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function renderBody(report: Report, links: RepositoryPages | null): string {
  const sections = renderDocument(report);
  const select = (...names: SectionName[]) => {
    const selected = sections.filter(({ name }) => names.includes(name));
    return trim(selected, frame);
  };
  const render = (...names: SectionName[]) =>
    renderBlocks(select(...names), renderers, null).map((block) => `${block}\n`);
  const { outcome } = report.verdict;
  return `<a class="skip" href="#cases">Skip to the cases</a>
<header class="bar">
<p class="product">MCP eval gate</p>
<p class="revision">${renderRevision(report, links)}</p>
<button type="button" id="theme" class="quiet" hidden></button>
</header>
<main id="main">
<section class="verdict ${outcome}" aria-labelledby="verdict">
<span class="seal" aria-hidden="true">${marks[outcome]}</span>
<div>
${render('verdict').join('')}${renderMoreReasons(select('reasons'))}${render('totals').join('')}</div>
</section>
${render('notes').join('')}${renderComparison('hosts', select('hosts'))}${renderComparison('behaviour', select('behaviour'))}<div id="app">${renderWithoutScript(select('suite'))}</div>
</main>
<footer><p>Written by ${renderText(`${report.generator.name} ${report.generator.version}`)}. The page loads nothing and sends nothing.</p></footer>`;
}

function renderRevision({ revision, startedAt }: Report, links: RepositoryPages | null): string {
  const { branch = null, commit = null } = revision ?? {};
  const root = links?.repositoryUrl ?? null;
  const inRepository = (path: string | null) => (root === null || path === null ? null : `${root}/${path}`);
  const [, pull = null] = /^PR (\d{1,10})$/.exec(branch ?? '') ?? [];
  const isCommit = commit !== null && /^[0-9a-f]{7,64}$/.test(commit);
  const when = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(startedAt) ? `${startedAt.slice(0, 16).replace('T', ' ')} UTC` : '';
  const parts = [
    root === null ? '' : renderLink(URL.parse(root)?.pathname.slice(1) ?? '', root),
    branch === null ? '' : renderLink(branch, inRepository(pull === null ? null : `pull/${pull}`)),
    commit === null ? '' : renderLink(commit.slice(0, 7), inRepository(isCommit ? `commit/${commit}` : null)),
    links?.run == null ? '' : renderLink(links.run.label, links.run.url),
    escapeHtml(when),
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** Renders foreign text, as a link if it has an address on the web. */
function renderLink(text: string, url: string | null): string {
  const name = `<bdi>${renderText(text)}</bdi>`;
  if (url === null || !/^https?:\/\//.test(url)) return name;
  return `<a href="${escapeHtml(url)}" rel="noreferrer">${name}</a>`;
}

/** Renders the blocks that a reader sees before any script runs; the script draws the others from the page's data. */
const renderers: Partial<Renderers<unknown>> = {
  verdict: ({ title, part, why }) => [
    `<h1 id="verdict">${title}</h1>`,
    ...(part === null ? [] : [`<p class="totals">${part}</p>`]),
    ...(why === null ? [] : [`<p class="reason">${renderLine(why)}</p>`]),
  ],
  text: ({ line }) => [`<p class="totals">${renderLine(line)}</p>`],
  repeat: ({ label, command }) => [
    `<div class="repeat"><h2>${label}</h2>\n<code id="repeat">${escapeHtml(command)}</code></div>`,
  ],
  output: ({ title, lines }) => [`<pre tabindex="0" aria-label="${title}">${lines.map(renderText).join('\n')}</pre>`],
  list: ({ items }) => renderList('reasons', items.flat().map(renderLine)),
  notes: ({ items }) => renderList('notes', items.map(renderLine)),
  footer: ({ lines: [totals = [], ...servers] }) => [
    `<p class="totals">${renderLine(totals)}</p>`,
    ...servers.map((line) => `<p class="server">${renderLine(line)}</p>`),
  ],
};

/** The comparisons of behaviour and of hosts are short, so that the page has them without the script. */
const comparisonRenderers: Partial<Renderers<string>> = {
  ...renderers,
  heading: ({ title }, id) => [`<h2 id="${id}">${renderLine(title)}</h2>`],
  changes: ({ items, why = 'Why' }) =>
    renderList(
      'reasons',
      items.map(({ mark, severity, id, message, alike, reason, texts, difference }) => {
        const lines = [
          [asMark(mark), ` ${severity} `, message, ' (', id, ')'],
          ...(alike.length === 0 ? [] : [alike]),
          ...texts,
        ];
        const first = lines.map(renderLine).join('<br>');
        const last = renderLine([`${why}: `, reason]);
        return difference === undefined ? `${first}<br>${last}` : `${first}${renderDifference(difference)}${last}`;
      }),
    ),
};

/** Renders a comparison with the base as the script of the page shows others. */
function renderDifference({ lines }: Difference): string {
  const rows = pairLines(lines).map((row) => {
    if ('both' in row) {
      const { side, text } = row.both;
      const code = renderCode(side === 'folded' ? `… ${text}` : text);
      return `<tr class="${side}"><td class="at"></td><td colspan="2">${code}</td></tr>`;
    }
    const pointer = row.pointer === null ? '' : renderText(row.pointer);
    return `<tr><td class="at">${pointer}</td>${renderSide(row.expected, 'expected')}${renderSide(row.actual, 'actual')}</tr>`;
  });
  return `<div class="difference"><div class="scroll" tabindex="0" role="group" aria-label="Base and change, line by line"><table class="sides">
<thead><tr><th scope="col"><span class="said">Where</span></th><th scope="col">− Base</th><th scope="col">+ Change</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></div>`;
}

function renderSide(line: ShownLine | null, name: 'expected' | 'actual'): string {
  if (line === null) return '<td class="none"></td>';
  const parts = splitMarked(line).map(({ text, isMarked }) =>
    isMarked ? `<mark>${renderText(text)}</mark>` : renderText(text),
  );
  const spoken = name === 'expected' ? 'base only: ' : 'change only: ';
  return `<td class="${name}"><span class="said">${spoken}</span><code><bdi>${parts.join('')}</bdi></code></td>`;
}

function renderCode(text: string): string {
  return `<code><bdi>${renderText(text)}</bdi></code>`;
}

function renderComparison(id: 'behaviour' | 'hosts', blocks: readonly Block[]): string {
  if (blocks.length === 0) return '';
  const lines = renderBlocks(blocks, comparisonRenderers, id);
  return `<section aria-labelledby="${id}">\n${lines.join('\n')}\n</section>\n`;
}

function renderMoreReasons(blocks: readonly Block[]): string {
  if (blocks.length === 0) return '';
  return `<details>\n<summary>More reasons</summary>\n${renderBlocks(blocks, renderers, null).join('\n')}\n</details>\n`;
}

/** Renders what did not pass, and why, for a browser that runs no scripts. */
function renderWithoutScript(blocks: readonly Block[]): string {
  const cases = blocks.flatMap((block) => (block.kind === 'cases' ? block.items : []));
  const items = cases.slice(0, maxPlainCases).map(({ title, counts, failures }) => {
    const reason = failures[0]?.reasons[0];
    const why = reason === undefined ? [] : [': ', asProse(splitReason(reason).words)];
    return renderLine([asName(title), `, ${counts}`, ...why]);
  });
  const hidden = cases.length - items.length;
  const more = hidden > 0 ? [`and ${hidden} more, which report.json lists`] : [];
  return `<noscript>
<h2 id="cases">Cases that did not pass</h2>
${items.length === 0 ? '<p>There are none.</p>' : renderList('plain', [...items, ...more]).join('\n')}
<p>Scripts are off here; with them the page shows every case and its iterations.</p>
</noscript>`;
}

function renderList(name: string, items: readonly string[]): string[] {
  return [`<ul class="${name}">`, ...items.map((item) => `<li>${item}</li>`), '</ul>'];
}

/** Renders a line. Foreign text is isolated, so that its direction does not change the text around it. */
function renderLine(line: Line): string {
  return line
    .map((span) => {
      if (typeof span === 'string') return escapeHtml(span);
      if (span.kind === 'mark') return marks[span.mark];
      const text = flattenText(readSpan(span, frame));
      if (span.kind === 'name') return `<b><bdi>${escapeHtml(text)}</bdi></b>`;
      return span.kind === 'strong' ? `<b>${escapeHtml(text)}</b>` : `<bdi>${renderProse(text)}</bdi>`;
    })
    .join('');
}

function renderText(text: string): string {
  return escapeHtml(truncateText(flattenText(text), frame.prose));
}

/** Renders text between backticks as code. */
function renderProse(text: string): string {
  return splitCode(text)
    .map((part) => (part.isCode ? `<code>${escapeHtml(part.text)}</code>` : escapeHtml(part.text)))
    .join('');
}
