// What a model does with the tools of a server. Each case is a test.
import { describeEvals } from 'mcp-eval-ci/vitest';
import { clerk } from './clerk.ts';

describeEvals('refunds.evals.yaml', { cwd: import.meta.dirname, serverCommand: 'node server.ts', models: [clerk] });
