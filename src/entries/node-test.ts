// The entry `mcp-eval-ci/node-test`, for test files of `node --test`.
export { describeEvals } from '../library/node-test.ts';
export type { Evals, EvalTestOptions } from '../library/eval-tests.ts';
