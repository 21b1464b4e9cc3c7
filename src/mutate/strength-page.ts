import { escapeHtml } from '../report/escape/html.ts';
import { countByClass, countByTool, type CountedPart } from './count-changes.ts';
import type { Strength } from './measure-strength.ts';
import { groupBrittle, groupSurvivors, mergeSame, summarizeStrength } from './render-strength.ts';

const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { padding: .2rem .8rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); text-align: left; }
td + td, th + th { text-align: right; }
li, td { overflow-wrap: anywhere; }
pre { overflow-x: auto; }`;

/** Renders a strength as one page, which needs no network and runs no script: the two numbers, by case, tool and class, and what evals miss. */
export function renderStrengthPage(strength: Strength, checks: readonly string[]): string {
  const { cases, changes, leftOut } = strength;
  const sections = [
    table(
      'Cases',
      ['Case', 'Harmful changes noticed'],
      cases.map(({ title, noticed, of }) => [title, `${noticed} of ${of}`]),
    ),
    countTable('Tools', countByTool(changes)),
    countTable('Classes', countByClass(changes)),
    list(
      'What the evals would miss',
      groupSurvivors(changes).flatMap(({ lines }) => lines),
    ),
    list(
      'What the evals fail on although no user suffers',
      groupBrittle(changes).flatMap(({ lines }) => lines),
    ),
    list('Not measured', mergeSame(leftOut)),
    checks.length === 0 ? '' : `<h2>Checks to add</h2>\n<pre>${escapeHtml(checks.join('\n'))}</pre>`,
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Strength of evals</title>
<style>${style}</style>
<h1>Strength of evals</h1>
<p>${escapeHtml(summarizeStrength(strength))}</p>
${sections.filter((section) => section !== '').join('\n')}
</html>
`;
}

function countTable(title: string, parts: readonly CountedPart[]): string {
  return table(
    title,
    ['Name', 'Harmful changes noticed', 'Harmless changes tolerated'],
    parts.map(({ name, harmful, harmless }) => [
      name,
      `${harmful.noticed} of ${harmful.of}`,
      `${harmless.tolerated} of ${harmless.of}`,
    ]),
  );
}

function table(title: string, head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  if (rows.length === 0) return '';
  const write = (cells: readonly string[], tag: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
  const lines = [write(head, 'th'), ...rows.map((row) => write(row, 'td'))];
  return `<h2>${title}</h2>\n<table>\n${lines.join('\n')}\n</table>`;
}

function list(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `<h2>${title}</h2>\n<ul>\n${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('\n')}\n</ul>`;
}
