// The check in a program, on a server in the same process: one case passes, and the other one draws other bars than the file has.
import { runGate } from 'mcp-eval-ci';
import { looksLike } from './image-check.ts';
import { createChartServer } from './server.ts';

const values = { rising: [0.2, 0.5, 0.9], falling: [0.9, 0.5, 0.2] };
const report = await runGate({
  cwd: import.meta.dirname,
  server: createChartServer,
  checks: [looksLike],
  tests: Object.entries(values).map(([name, bars]) => ({
    title: `Draws ${name} bars`,
    steps: [{ toolCall: 'draw_bars', arguments: { values: bars } }, { assert: { looksLike: 'rising.png' } }],
  })),
  reportDir: '../report',
});
for (const { title, outcome, failures } of report.cases) {
  console.log(title, outcome, ...failures.flatMap(({ reasons }) => reasons));
}
process.exitCode = report.verdict.outcome === 'failed' ? 0 : 1;
