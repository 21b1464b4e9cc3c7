// The entry `mcp-eval-ci/vitest`, for test files of vitest.
export { createServerTest, describeEvals } from '../library/vitest.ts';
export type { Evals, EvalTestOptions } from '../library/eval-tests.ts';
export type { TestedServer, TestedServerOptions } from '../library/tested-server.ts';
