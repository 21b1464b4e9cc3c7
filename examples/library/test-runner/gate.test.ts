// Each case is a test of node:test.
import { describeEvals } from 'mcp-eval-ci/node-test';

describeEvals('../notes/*.evals.yaml', {
  cwd: import.meta.dirname,
  serverCommand: 'node ../notes/server.ts',
  reportDir: '../report',
});
