import { styleText } from 'node:util';
import { formatCount } from '../base/text.ts';
import { type SurfaceChange, type SurfaceReport, type SurfaceSeverity } from '../model/surface-report.ts';
import { escapeTerminalText } from './escape/log.ts';
import { renderCodeSpan, renderLocation, renderProse, renderTableCode } from './escape/markdown.ts';
import { describeSize, describeSurface, surfaceMarks } from './surface-wording.ts';
import { truncateText } from './truncate.ts';

const colors = { breaking: 'red', review: 'yellow', additive: 'green', cosmetic: 'dim' } as const;
const emoji: Record<SurfaceSeverity, string> = { breaking: '❌', review: '⚠️', additive: '➕', cosmetic: '▫️' };

const maxTextLength = 300;
const maxFindings = 20;

/** Renders the changes for a terminal: each change, its location and why it matters; then findings and sizes. */
export function renderSurfaceText(report: SurfaceReport, { color }: { color: boolean }): string {
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const clean = (text: string) => escapeTerminalText(truncateText(text, maxTextLength));
  const isSeveral = report.configurations.length > 1;
  const against = report.against === 'base' ? 'the base' : clean(report.against);
  const lines = report.configurations.flatMap(({ name, changes, findings, tools, ...sizes }) => [
    ...(isSeveral ? [paint('bold', clean(name))] : []),
    ...changes.flatMap((change) => [
      `${paint(colors[change.severity], `${surfaceMarks[change.severity]} ${change.severity}`)}  ${clean(change.id)}`,
      `    ${clean(change.message)}.${describePlace(change, clean)}`,
      ...listTexts(change, clean).map((line) => `    ${line}`),
      `    ${paint('dim', clean(change.reason))}`,
    ]),
    ...findings
      .slice(0, maxFindings)
      .flatMap(({ id, message, reason }) => [
        `${paint('yellow', '! finding')}  ${clean(id)}`,
        `    ${clean(message)}. ${paint('dim', clean(reason))}`,
      ]),
    ...(findings.length > maxFindings ? [`  and ${formatCount(findings.length - maxFindings, 'more finding')}`] : []),
    `${formatCount(tools.length, 'tool')}, ${describeSize(sizes)} for a model to read${describeLargest(tools, clean)}`,
  ]);
  return `${[`Surface against ${against}: ${describeSurface(report)}`, ...lines].join('\n')}\n`;
}

function describePlace({ location }: SurfaceChange, clean: (text: string) => string): string {
  return location === null ? '' : ` ${clean(`${location.file}:${location.line}`)}`;
}

/** Lists the texts before and after a change, if the message does not contain them. */
function listTexts({ before, after, message }: SurfaceChange, clean: (text: string) => string): string[] {
  const isSaid = [before, after].every((text) => text === null || message.includes(text));
  if (isSaid) return [];
  return [...(before === null ? [] : [`- ${clean(before)}`]), ...(after === null ? [] : [`+ ${clean(after)}`])];
}

function describeLargest(
  tools: ReadonlyArray<{ name: string; bytes: number }>,
  clean: (text: string) => string,
): string {
  const [largest] = tools;
  return largest === undefined || tools.length < 2 ? '' : `; ${clean(largest.name)} takes most, ${largest.bytes}`;
}

/** Renders the changes as blocks of Markdown, for the job summary: a table of changes, folded findings, sizes. */
export function listSurfaceBlocks(
  report: SurfaceReport,
  { maxRows, linkLine }: { maxRows: number; linkLine: (place: { file: string; line: number }) => string | null },
): string[] {
  const cell = (text: string) => renderTableCode(truncateText(text, maxTextLength));
  const head = `### Tool surface: ${describeSurface(report)}`;
  const blocks = report.configurations.flatMap(({ name, changes, findings, tools, ...sizes }) => {
    const shown = changes.slice(0, maxRows);
    const rows = shown.map(
      ({ severity, id, message, reason, location }) =>
        `| ${emoji[severity]} ${severity} | ${cell(id)} | ${cell(message)} | ${reason} |${location === null ? '' : ` ${renderLocation(location, linkLine)} |`}`,
    );
    const hasPlaces = shown.some(({ location }) => location !== null);
    const titles = `| | Change | What | Why |${hasPlaces ? ' Where |' : ''}\n|---|---|---|---|${hasPlaces ? '---|' : ''}`;
    const largest = tools
      .slice(0, 3)
      .map((tool) => `${renderCodeSpan(truncateText(tool.name, maxTextLength))} ${describeSize(tool)}`);
    const list = findings
      .slice(0, Math.min(maxRows, maxFindings))
      .map(({ message, reason }) => `- ${renderProse(truncateText(message, maxTextLength))}. ${reason}`);
    return [
      ...(report.configurations.length > 1
        ? [`**Configuration** ${renderCodeSpan(truncateText(name, maxTextLength))}`]
        : []),
      ...(rows.length === 0 ? [] : [`${titles}\n${rows.join('\n')}`]),
      ...(changes.length > shown.length
        ? [`${formatCount(changes.length - shown.length, 'more change')}; the report lists them.`]
        : []),
      `A model reads ${describeSize(sizes)} of ${formatCount(tools.length, 'tool')}${largest.length === 0 ? '' : `; most of it: ${largest.join(', ')}`}.`,
      ...(list.length === 0
        ? []
        : [`<details>\n<summary>${formatCount(findings.length, 'finding')}</summary>`, list.join('\n'), '</details>']),
    ];
  });
  const against =
    report.against === 'base' ? 'the server of the base' : renderCodeSpan(truncateText(report.against, maxTextLength));
  return [head, report.unread === null ? `Compared with ${against}.` : renderProse(report.unread), ...blocks];
}

/** Renders the lines of a comment about the surface: the counts, and the worst changes. */
export function listSurfaceLines(report: SurfaceReport, { maxRows }: { maxRows: number }): string[] {
  const changes = report.configurations.flatMap((each) => each.changes);
  const worst = changes.filter(({ severity }) => severity === 'breaking' || severity === 'review').slice(0, maxRows);
  const [only] = report.configurations;
  const size = report.configurations.length === 1 && only !== undefined ? `; a model reads ${describeSize(only)}` : '';
  const lines = worst.map(
    ({ severity, message, id }) =>
      `- ${emoji[severity]} ${renderProse(truncateText(message, maxTextLength))} (${renderCodeSpan(truncateText(id, maxTextLength))})`,
  );
  return [`Tool surface: ${describeSurface(report)}${size}.`, ...(lines.length === 0 ? [] : [lines.join('\n')])];
}
