import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { judgeTrace, listTraceAssertions } from '../../src/engine/judge-trace.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Suite } from '../../src/cases/suite.ts';
import { compileCase } from '../../src/suite/compile.ts';
import { contract, type Dialect } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';
import { refuse, startFixtureMcpServer, text, type FixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';

const calls = `
      - { toolCall: echo, id: first, arguments: { message: one } }
      - { assert: { toolResultContains: one } }
      - { toolCall: fail }
      - { assert: { toolResultIsError: true } }
      - { toolCall: refuse }
      - { assert: { toolResultIsError: true } }
      - { toolCall: data }`;

/** Cases that a service without the gate's assertions passes, with the outcome under those assertions. */
const outcomes: Array<[assertion: string, checks: string, outcome: 'passed' | 'failed']> = [
  ['toolResultEquals: 5, path: /sum', '', 'passed'],
  ['toolResultEquals: 6, path: /sum', '', 'failed'],
  ['toolResultContains: no, toolName: refuse', '', 'passed'],
  ['toolResultContains: one, toolName: fail', '', 'failed'],
  ['toolResultContains: anything, toolName: absent', '', 'failed'],
  ['toolResultMatchesSchema: { type: object, required: [sum] }, latest: true', '{ toolLatencyUnder: 60000 }', 'passed'],
  ['toolResultIsError: false', '{ toolResultMatches: "^one$", toolName: echo }', 'passed'],
  ['toolResultIsError: false', '{ toolResultMatches: "^two$", toolName: echo }', 'failed'],
  ['toolResultContains: one', '{ toolLatencyUnder: 60000, latest: true }', 'passed'],
  ['toolResultContains: one, latest: true', '', 'failed'],
  ['toolResultMatchesSchema: { type: object }', '', 'failed'],
  ['not: { toolResultContains: one, toolName: fail }', '{ not: noToolErrors }', 'passed'],
  ['not: { toolResultContains: broke }', '', 'failed'],
  ['not: { toolCalledWith: echo, arguments: { message: two } }', '{ not: { toolNeverCalled: data } }', 'passed'],
  ['not: { toolCalledWith: echo, arguments: { message: one } }', '', 'failed'],
  ['not: { toolCalledBefore: fail, beforeToolName: echo }', '{ not: { responseContains: five } }', 'passed'],
  ['not: { toolCallCountUnder: 9 }', '', 'failed'],
  ['not: { turnCountUnder: 1 }', '', 'failed'],
  ['toolCallCountUnder: 9', '{ toolCalledBefore: echo, beforeToolName: fail }', 'passed'],
  ['toolCallCountUnder: 2', '', 'failed'],
  ['onlyToolsCalled: [echo]', '', 'failed'],
  ['toolCalledAtLeastOnce: echo', '{ responseCloseTo: five, maxDistance: 0 }', 'failed'],
];

function readOnlyCase(assertion: string, checks: string): Suite {
  const { suite, findings } = readSuite(
    `suite: S\ncases:\n  - title: C\n    checks: [${checks}]\n    steps:${calls}\n      - assert: { ${assertion} }\n`,
    { file: 'a.evals.yaml' },
  );
  if (suite === null) throw new Error(JSON.stringify(findings));
  return suite;
}

describe('the trace of the embedded engine', () => {
  let server: FixtureMcpServer;
  beforeAll(async () => {
    server = await startFixtureMcpServer({
      echo: { call: ({ args }) => text(String(args['message'])) },
      fail: { call: () => ({ ...text('It broke.'), isError: true }) },
      refuse: { call: () => refuse(-32602, 'no') },
      data: { call: () => ({ ...text('see the data'), structuredContent: { sum: 5 } }) },
    });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  it.each(outcomes)('judges { %s } with checks [%s] as the engine does: %s', async (assertion, checks, outcome) => {
    const suite = readOnlyCase(assertion, checks);
    const [item] = suite.cases;
    const target = { url: server.url, serverName: 'fixture', protocol: 'legacy' as const };
    const run = (dialect: Dialect) =>
      runCase(compileCase(item!, suite, { dialect }), target, {
        clock: systemClock,
        timeoutMs: 30_000,
      });
    const ours = await run('embedded');
    const theirs = await run(contract);
    expect([ours.result, theirs.result]).toEqual([outcome, 'passed']);

    const trace: unknown = JSON.parse(JSON.stringify(theirs.trace));
    const steps = item!.steps.map(({ step }) => step);
    const judgement = await judgeTrace(trace, listTraceAssertions(item!, suite, contract), steps);
    const failedStep = ours.steps.find(({ status }) => status === 'fail');
    expect(judgement).toEqual(
      outcome === 'passed'
        ? { kind: 'passed' }
        : {
            kind: 'failed',
            reason: ours.error,
            step:
              failedStep === undefined ? null : { id: failedStep.stepId, index: failedStep.stepIndex, kind: 'assert' },
          },
    );
  });
});
