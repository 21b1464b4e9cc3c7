// Each case is a test of node:test.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runGate } from 'mcp-eval-ci';

const report = await runGate({
  cwd: import.meta.dirname,
  serverCommand: 'node ../notes/server.ts',
  evals: '../notes/*.evals.yaml',
  reportDir: '../report',
});

for (const { title, failures } of report.cases) {
  void test(title, () => {
    assert.deepEqual(
      failures.flatMap(({ reasons }) => reasons),
      [],
    );
  });
}
void test('the gate', () => assert.equal(report.verdict.outcome, 'passed', report.verdict.reasons[0]?.message));
