import { alter, answer, refuse } from '../support/faults/answers.ts';
import type { Expectation } from '../support/faults/letters.ts';
import type { Route } from '../support/faults/routes.ts';
import type { Fault } from '../support/faults/service-front.ts';

/** One way in which deployments of the API differ, which a job must take as it comes. */
export interface Tolerance {
  /** In the list of ambiguities of the wire contract. */
  ambiguity: number;
  what: string;
  /** What the service answers; where it is left out, its own. */
  answers: Partial<Record<Route, Fault>>;
  inputs?: Record<string, string>;
  expected: Expectation;
}

type Item = Record<string, unknown>;
const changeItems = (change: (item: Item) => Item) =>
  alter((page) => ({ ...page, items: (page['items'] as Item[]).map(change) }));
const changeRun = (change: (run: Item) => Item) => alter(change);
const without = (...fields: string[]) =>
  alter((value) => Object.fromEntries(Object.entries(value).filter(([name]) => !fields.includes(name))));

const passes = { exitCode: 0 };
const showsNothing = { exitCode: 3 };
const oneFails = '- title: one\n  steps:\n    - toolCall: fail\n      arguments: {}\n';
const judgedHere =
  '- title: one\n  steps:\n    - toolCall: work\n      arguments: { seconds: 1 }\n    - assert: { toolResultContains: done }\n';
const uncounted = changeRun((run) => ({ ...run, summary: null }));

/**
 * Tested elsewhere: 4, 5, 19 and 22 in tests of their own; 12 in test/service/ingest-client.test.ts, 20 in
 * test/suite/assertions.test.ts; 23 is about deleting and patching suites, which is not done either.
 */
export const tolerances: readonly Tolerance[] = [
  {
    ambiguity: 1,
    what: 'a run that timed out',
    answers: { poll: changeRun((run) => ({ ...run, status: 'timed_out' })) },
    expected: { ...showsNothing, says: /timed_out/ },
  },
  {
    ambiguity: 1,
    what: 'iterations that timed out, by their status',
    answers: { poll: uncounted, page: changeItems((item) => ({ ...item, status: 'timed_out', result: null })) },
    expected: { exitCode: 1 },
  },
  {
    ambiguity: 1,
    what: 'iterations that timed out, by their result',
    answers: { poll: uncounted, page: changeItems((item) => ({ ...item, result: 'timed_out' })) },
    expected: { exitCode: 1 },
  },
  { ambiguity: 2, what: 'no result of a run that is over', answers: { poll: without('result') }, expected: passes },
  {
    ambiguity: 2,
    what: 'a result of null',
    answers: { poll: changeRun((run) => ({ ...run, result: null })) },
    expected: passes,
  },
  {
    ambiguity: 3,
    what: 'a failed run that counts only passes',
    answers: {
      poll: changeRun((run) => ({ ...run, status: 'failed', summary: { total: 1, passed: 1, failed: 0 } })),
    },
    expected: { ...showsNothing, says: /failed/ },
  },
  {
    ambiguity: 3,
    what: 'fewer iterations than are counted',
    answers: { poll: changeRun((run) => ({ ...run, summary: { total: 9, passed: 9, failed: 0 } })) },
    expected: { ...showsNothing, says: /counts 9 iterations, 3 could be read/ },
  },
  {
    ambiguity: 3,
    what: 'a cancelled run with iterations that are pending',
    answers: {
      poll: changeRun((run) => ({ ...run, status: 'cancelled' })),
      page: changeItems((item) => ({ ...item, status: 'pending', result: null })),
    },
    expected: showsNothing,
  },
  {
    ambiguity: 6,
    what: 'a receipt of an older deployment, for a run that was there before',
    answers: { run: without('deduped', 'servers', 'environment', 'runGroupId', 'caseUpsert') },
    expected: passes,
  },
  {
    ambiguity: 6,
    what: 'a receipt of a run that is over',
    answers: { run: alter((receipt) => ({ ...receipt, status: 'completed', deduped: true })) },
    expected: { ...passes, says: /received this launch before/ },
  },
  ...[undefined, null, ''].map((nextCursor) => ({
    ambiguity: 7,
    what: `${JSON.stringify(nextCursor) ?? 'no'} cursor on the last page`,
    answers: { page: alter((page) => ({ ...page, nextCursor: page['nextCursor'] ?? nextCursor })) },
    expected: passes,
  })),
  {
    ambiguity: 8,
    what: 'a plan that is used up, with 429',
    answers: { run: refuse(429, 'RATE_LIMITED', { details: { gateKey: 'maxRuns', plan: 'free' } }) },
    expected: { ...showsNothing, says: /plan is used up/ },
  },
  {
    ambiguity: 8,
    what: 'a plan that is used up, with 403',
    answers: { run: refuse(403, 'FORBIDDEN', { details: { gateKey: 'maxRuns', plan: 'free' } }) },
    expected: { exitCode: 2, says: /plan is used up/ },
  },
  { ambiguity: 9, what: 'an error without a body', answers: { run: answer(400, '', {}) }, expected: { exitCode: 2 } },
  {
    ambiguity: 9,
    what: 'an error with half an envelope',
    answers: { poll: answer(500, '{"error":"no"}') },
    expected: { ...showsNothing, says: /500 INTERNAL_ERROR/ },
  },
  {
    ambiguity: 10,
    what: 'a 403 that may mean the server',
    answers: { run: refuse(403, 'FORBIDDEN') },
    expected: { exitCode: 2, says: /or the MCP server refused its credentials/ },
  },
  {
    ambiguity: 10,
    what: 'a 401 that means the server',
    answers: { 'create-suite': refuse(401, 'OAUTH_REQUIRED') },
    expected: { exitCode: 2, says: /connect it in the project first/ },
  },
  {
    ambiguity: 11,
    what: 'a 404 for a project of others',
    answers: { run: refuse(404, 'NOT_FOUND') },
    expected: { exitCode: 2, says: /no access to/ },
  },
  {
    ambiguity: 11,
    what: 'a tunnel that cannot be registered, as either of two codes',
    answers: { grant: refuse(500, 'INTERNAL_ERROR') },
    inputs: { tunnel: 'always' },
    expected: { exitCode: 3, says: /500 INTERNAL_ERROR/ },
  },
  {
    ambiguity: 13,
    what: 'an unknown source, engine and environment',
    answers: {
      poll: changeRun((run) => ({ ...run, source: 'github_check', executionEngine: 'harness:x', environment: 7 })),
    },
    expected: passes,
  },
  { ambiguity: 13, what: 'none of them', answers: { poll: without('source', 'environment') }, expected: passes },
  {
    ambiguity: 14,
    what: 'scores that are null',
    answers: {
      page: changeItems((item) => ({ ...item, scores: null, evaluationConfig: null, scoreIntegrity: null })),
    },
    expected: passes,
  },
  {
    ambiguity: 15,
    what: 'iterations that name their case by its title alone, counted from 0',
    answers: { page: changeItems((item) => ({ ...item, testCaseId: null, model: null, iterationNumber: 0 })) },
    expected: passes,
  },
  {
    ambiguity: 15,
    what: 'iterations that name no case',
    answers: { page: changeItems((item) => ({ ...item, testCaseId: null, title: null })) },
    expected: showsNothing,
  },
  {
    ambiguity: 16,
    what: 'tool calls in older words',
    answers: { page: changeItems((item) => ({ ...item, actualToolCalls: [{ name: 'work', args: {} }, {}] })) },
    expected: passes,
  },
  {
    ambiguity: 17,
    what: 'no results of steps',
    answers: { steps: alter(() => ({ items: [] })) },
    inputs: { tests: oneFails },
    expected: { exitCode: 1 },
  },
  {
    ambiguity: 17,
    what: 'results of steps that are all pending',
    answers: { steps: changeItems((step) => ({ ...step, status: 'pending', evidence: undefined })) },
    inputs: { tests: oneFails },
    expected: { exitCode: 1 },
  },
  {
    ambiguity: 18,
    what: 'a trace with unknown parts',
    answers: { trace: alter((trace) => ({ ...trace, widgetSnapshots: [{ huge: 'x'.repeat(1e6) }], prompts: null })) },
    inputs: { tests: judgedHere },
    expected: passes,
  },
  {
    ambiguity: 18,
    what: 'a trace without the parts that are judged',
    answers: { trace: alter(() => ({})) },
    inputs: { tests: judgedHere },
    expected: showsNothing,
  },
  {
    ambiguity: 21,
    what: 'a grant without what may be missing',
    answers: { grant: without('name', 'slug', 'connectTokenExpiresAt', 'secretVersion', 'existed') },
    inputs: { tunnel: 'always' },
    expected: passes,
  },
  ...[0, 66.7, 100].map((passRate) => ({
    ambiguity: 24,
    what: `a pass rate of ${passRate}, on whatever scale`,
    answers: {
      poll: changeRun((run) => ({ ...run, summary: run['summary'] && { ...(run['summary'] as Item), passRate } })),
    },
    expected: passes,
  })),
  {
    ambiguity: 25,
    what: 'servers by name or by id, or not at all',
    answers: {
      'create-suite': alter((receipt) => ({ ...receipt, servers: [{ id: 'mcp-eval-ci', name: null }] })),
      run: without('servers'),
    },
    expected: passes,
  },
  {
    ambiguity: 26,
    what: 'a step that the service has added',
    answers: {
      steps: alter((page) => ({
        ...page,
        items: [...(page['items'] as Item[]), { stepId: 'w', stepIndex: 9, kind: 'widgetRendered', status: 'fail' }],
      })),
    },
    inputs: { tests: oneFails },
    expected: { exitCode: 1 },
  },
];
