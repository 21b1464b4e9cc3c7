import { createHash } from 'node:crypto';
import type { Evidence } from '../../model/evidence.ts';
import type { CaseReport } from '../../model/case-report.ts';
import type { Report } from '../../model/report.ts';
import { escapeHtml } from '../escape/html.ts';
import { flattenText, splitCode } from '../escape/plain.ts';
import { truncateText } from '../truncate.ts';
import {
  describeCaseCounts,
  describePart,
  describeServer,
  describeTotals,
  describeVerdict,
  nameReasons,
  listServers,
} from '../wording.ts';
import { pageScript, pageStyle } from './page-assets.ts';
import { renderPageData } from './page-data.ts';

export interface PageOptions {
  /** The results of single iterations, if they are available. */
  evidence?: Evidence | null;
  /** In bytes of UTF-8. People open a page from a mail or an artifact, in a hurry. */
  maxBytes?: number;
}

const defaultMaxBytes = 20 * 1024 * 1024;
const maxLength = 500;
const maxReasons = 10;
const maxPlainCases = 100;
const marks = { passed: '✓', failed: '✗', inconclusive: '?' };

/**
 * Renders `report.html`: one page without other files. Its markup has the verdict; its script draws the rest from JSON in the page. Its
 * content security policy lets nothing else run, load or leave: it names the script and the style by their hashes.
 */
export function renderHtml(report: Report, { evidence = null, maxBytes = defaultMaxBytes }: PageOptions = {}): string {
  const head = renderHead(report);
  const frame = renderBody(report);
  const room = maxBytes - Buffer.byteLength(head + frame + pageScript) - 1000;
  return `<!doctype html>
<html lang="en">
${head}
<body>
${frame}
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
  const { outcome, reasons } = report.verdict;
  const named = nameReasons(report, reasons.slice(0, maxReasons));
  const [headline, ...others] = named.map(
    ({ suiteName, message }) =>
      (suiteName === null ? '' : `<b><bdi>${renderText(suiteName)}</bdi></b>: `) + `<bdi>${renderProse(message)}</bdi>`,
  );
  const output = named.find((reason) => reason.output.length > 0)?.output.map(renderText) ?? [];
  const hidden = reasons.length - maxReasons;
  const list = [...others, ...(hidden > 0 ? [`and ${hidden} more, which report.json lists`] : [])];
  const part = describePart(report);
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
<h1 id="verdict">${describeVerdict(report)}</h1>
${headline === undefined ? '' : `<p class="reason">${headline}</p>\n`}${output.length === 0 ? '' : `<pre tabindex="0" aria-label="The last lines that the server wrote">${output.join('\n')}</pre>\n`}${renderList('reasons', list)}${part === null ? '' : `<p class="totals">${renderText(part)}</p>\n`}<p class="totals">${renderText(describeTotals(report))}</p>
${listServers(report)
  .map((server) => `<p class="server"><bdi>${renderText(describeServer(server))}</bdi></p>\n`)
  .join('')}</div>
</section>
${renderList('notes', report.notes.slice(0, maxReasons).map(renderProse))}<div id="app">${renderWithoutScript(report)}</div>
</main>
<footer><p>Written by ${renderText(`${report.generator.name} ${report.generator.version}`)}. The page loads nothing and sends nothing.</p></footer>`;
}

function renderRevision({ revision, startedAt }: Report): string {
  const parts = [revision?.branch ?? null, revision?.commit?.slice(0, 7) ?? null].filter((part) => part !== null);
  const when = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(startedAt) ? `${startedAt.slice(0, 16).replace('T', ' ')} UTC` : '';
  return [...parts.map((part) => `<bdi>${renderText(part)}</bdi>`), escapeHtml(when)].filter(Boolean).join(' · ');
}

/** Renders what did not pass, and why, for a browser that runs no scripts. */
function renderWithoutScript({ cases }: Report): string {
  const shown = cases.filter(({ outcome }) => outcome !== 'passed');
  const items = shown.slice(0, maxPlainCases).map(renderPlainCase);
  const hidden = shown.length - items.length;
  return `<noscript>
<h2 id="cases">Cases that did not pass</h2>
${renderList('plain', [...items, ...(hidden > 0 ? [`and ${hidden} more, which report.json lists`] : [])]) || '<p>There are none.</p>\n'}<p>Scripts are off here; with them the page shows every case and its iterations.</p>
</noscript>`;
}

function renderPlainCase(testCase: CaseReport): string {
  const [failure] = testCase.failures;
  const reason = failure?.reasons[0] === undefined ? '' : `: <bdi>${renderProse(failure.reasons[0])}</bdi>`;
  return `<b><bdi>${renderText(testCase.title)}</bdi></b>, ${describeCaseCounts(testCase)}${reason}`;
}

function renderList(name: string, items: readonly string[]): string {
  return items.length === 0
    ? ''
    : `<ul class="${name}">\n${items.map((item) => `<li>${item}</li>`).join('\n')}\n</ul>\n`;
}

function renderText(text: string): string {
  return escapeHtml(truncateText(flattenText(text), maxLength));
}

/** Renders a sentence like `renderText`: text between backticks is code. */
function renderProse(text: string): string {
  const render = (part: string, isCode: boolean) => (isCode ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part));
  return splitCode(truncateText(flattenText(text), maxLength))
    .map((part) => render(part.text, part.isCode))
    .join('');
}
