import { describe, expect, it } from 'vitest';
import { openTraceJudge } from '../../../src/gate/run/local-assertions.ts';
import type { Suite } from '../../../src/cases/suite.ts';
import { serviceProfiles } from '../../../src/service/profile.ts';
import { contract } from '../../../src/suite/dialect.ts';
import { readSuite } from '../../../src/suite/read.ts';
import { createCallMessages, createCallSpan } from '../../support/factories/trace-factory.ts';
import { createIteration } from '../../support/factories/suite-factory.ts';

function read(...assertions: string[]): Suite {
  const asserts = assertions.map((assertion) => `{ assert: ${assertion} }`).join(', ');
  const steps = `[{ toolCall: a, id: call }, ${asserts}, { assert: noToolErrors, id: last }]`;
  const { suite } = readSuite(`suite: S\ncases: [{ id: adds, title: C, steps: ${steps} }]`, { file: 'a' });
  if (suite === null) throw new Error('The suite of the test is no suite.');
  return suite;
}

const caseIds = new Map([['svc_adds', 'adds']]);
const lastStep = { stepId: 'last', stepIndex: 1, kind: 'assert', status: 'ok', reason: null } as const;

describe('openTraceJudge', () => {
  it('judges what the service does not know, and counts the steps as the file does', async () => {
    const judge = await openTraceJudge(read('{ toolResultContains: b }'), caseIds, contract);
    expect(judge?.hasAssertions(createIteration())).toBe(true);
    expect(judge?.placeSteps(createIteration(), [lastStep])).toEqual([{ ...lastStep, stepIndex: 2 }]);
  });

  it('reads no trace for advice, and counts the steps after it as the file does', async () => {
    const judge = await openTraceJudge(read('{ toolCallCountUnder: 1, role: advisory }'), caseIds, contract);
    expect(judge?.hasAssertions(createIteration())).toBe(false);
    expect(judge?.placeSteps(createIteration(), [lastStep])).toEqual([{ ...lastStep, stepIndex: 2 }]);
  });

  it('is not needed for a suite that the service knows as it is', async () => {
    expect(await openTraceJudge(read('{ toolCalledAtLeastOnce: a }'), caseIds, contract)).toBeNull();
  });

  it('depends on what the version of the service knows', async () => {
    const suite = read('{ toolCallCountUnder: 3 }');
    const { embedded, mcpjam, svc } = serviceProfiles;
    expect(await openTraceJudge(suite, caseIds, embedded.dialect)).toBeNull();
    expect(await openTraceJudge(suite, caseIds, mcpjam.dialect)).toBeNull();
    const judge = await openTraceJudge(suite, caseIds, svc.dialect);
    const iteration = createIteration();
    const called = (times: number) => {
      const ids = Array.from({ length: times }, (_, index) => `${index}`);
      return {
        messages: ids.flatMap((id) => createCallMessages(id, { toolName: 'a' })),
        spans: ids.map((id) => createCallSpan(id, { toolName: 'a', authoredStepId: 'call' })),
      };
    };
    expect(judge?.hasAssertions(iteration)).toBe(true);
    expect(await judge?.judge(iteration, called(2))).toEqual({ kind: 'passed' });
    expect(await judge?.judge(iteration, called(3))).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('toolCallCountUnder: '),
      step: { index: 1 },
    });
    expect(await judge?.judge(iteration, null)).toMatchObject({ kind: 'unscored' });
  });

  it('has no result of what neither the service knows nor its trace shows', async () => {
    const judge = await openTraceJudge(read('noDestructiveToolCalled'), caseIds, serviceProfiles.svc.dialect);
    expect(await judge?.judge(createIteration(), { messages: [] })).toEqual({
      kind: 'unscored',
      reason: 'noDestructiveToolCalled could not be judged: the trace does not have what it is about.',
    });
  });
});
