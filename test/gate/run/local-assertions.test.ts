import { describe, expect, it } from 'vitest';
import { openTraceJudge } from '../../../src/gate/run/local-assertions.ts';
import type { Suite } from '../../../src/model/suite.ts';
import { readSuite } from '../../../src/suite/read.ts';
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
    const judge = await openTraceJudge(read('{ toolResultContains: b }'), caseIds);
    expect(judge?.hasAssertions(createIteration())).toBe(true);
    expect(judge?.placeSteps(createIteration(), [lastStep])).toEqual([{ ...lastStep, stepIndex: 2 }]);
  });

  it('reads no trace for advice, and counts the steps after it as the file does', async () => {
    const judge = await openTraceJudge(read('{ toolCallCountUnder: 1, role: advisory }'), caseIds);
    expect(judge?.hasAssertions(createIteration())).toBe(false);
    expect(judge?.placeSteps(createIteration(), [lastStep])).toEqual([{ ...lastStep, stepIndex: 2 }]);
  });

  it('is not needed for a suite that the service knows as it is', async () => {
    expect(await openTraceJudge(read('{ toolCallCountUnder: 3 }'), caseIds)).toBeNull();
  });
});
