// A table of cases: each row of `each` is a test.
import { describeEvals } from 'mcp-eval-ci/vitest';
import { clerk } from './clerk.ts';

describeEvals('table.evals.yaml', { cwd: import.meta.dirname, serverCommand: 'node server.ts', models: [clerk] });
