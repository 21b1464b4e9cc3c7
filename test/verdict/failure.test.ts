import { describe, expect, it } from 'vitest';
import type { StepResult } from '../../src/model/run.ts';
import { describeFailure } from '../../src/verdict/failure.ts';
import { createIteration } from '../support/suite-factory.ts';

const okStep: StepResult = { stepId: 'call', stepIndex: 0, kind: 'toolCall', status: 'ok', reason: 'fine' };
const failedStep: StepResult = {
  stepId: 'sum',
  stepIndex: 1,
  kind: 'assert',
  status: 'fail',
  reason: 'Expected 4, got 5.',
  evidence: {
    toolCalls: [
      { name: 'add', args: {}, ok: true },
      { name: 'add', args: {}, ok: false, error: 'overflow' },
    ],
  },
};

describe('describeFailure', () => {
  it('puts the failed step’s reason first, then the iteration’s error and those of its tool calls', () => {
    const iteration = createIteration({ result: 'failed', error: 'The case failed.' });
    expect(describeFailure(iteration, [okStep, failedStep])).toEqual({
      iterationId: 'it_1',
      iterationNumber: 1,
      result: 'failed',
      reasons: ['Expected 4, got 5.', 'The case failed.', 'add: overflow'],
      step: { id: 'sum', index: 1, kind: 'assert' },
      durationMs: 100,
      expectedToolCalls: [],
      actualToolCalls: [],
    });
  });

  it('says the same thing once', () => {
    const iteration = createIteration({ result: 'failed', error: 'Expected 4, got 5.' });
    expect(describeFailure(iteration, [{ ...failedStep, evidence: {} }]).reasons).toEqual(['Expected 4, got 5.']);
  });

  it.each([
    ['timed_out', null, 'The iteration ran out of time.'],
    ['cancelled', null, 'The iteration was cancelled before it had a result.'],
    ['completed', 'failed', 'The service gave no reason; it says "failed".'],
    ['paused', null, 'The service gave no reason; it says "paused".'],
  ])('has a reason where the service gives none: %s, %s', (status, result, reason) => {
    expect(describeFailure(createIteration({ status, result, error: ' ' }), null)).toMatchObject({
      reasons: [reason],
      step: null,
    });
  });
});
