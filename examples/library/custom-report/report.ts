// A report in a format of its own: one line of CSV for each case. A report is a value, so no interface is needed.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runGate } from 'mcp-eval-ci';
import { type Report, renderReport } from 'mcp-eval-ci/report';

const directory = path.join(import.meta.dirname, '../report');

function renderCsv({ cases }: Report): string {
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  return [
    'case,passed,total',
    ...cases.map(({ title, passed, total }) => `${quote(title)},${passed},${total}`),
    '',
  ].join('\n');
}

const report = await runGate({
  cwd: import.meta.dirname,
  serverCommand: 'node ../notes/server.ts',
  evals: '../notes/*.evals.yaml',
  reportDir: directory,
});
await writeFile(path.join(directory, 'cases.csv'), renderCsv(report));
await writeFile(path.join(directory, 'comment.md'), await renderReport(report, { as: 'comment', job: 'notes' }));
console.log(renderCsv(report));
process.exitCode = report.verdict.outcome === 'passed' ? 0 : 1;
