// A gate in a script: its progress on the terminal, and an exit code for CI.
import { ConfigurationError, describeProgress, formatConfigurationIssue, runGate } from 'mcp-eval-ci';
import { renderReport } from 'mcp-eval-ci/report';

try {
  const report = await runGate({
    cwd: import.meta.dirname,
    serverCommand: 'node ../notes/server.ts',
    evals: '../notes/*.evals.yaml',
    runs: 2,
    reportDir: '../report',
    onProgress: (step) => console.error(describeProgress(step)),
  });
  console.log(await renderReport(report, { as: 'terminal' }));
  process.exitCode = report.verdict.outcome === 'passed' ? 0 : 1;
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  for (const issue of error.issues) console.error(formatConfigurationIssue(issue));
  process.exitCode = 2;
}
