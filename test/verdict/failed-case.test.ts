import { describe, expect, it } from 'vitest';
import type { OwnJudgement } from '../../src/model/results.ts';
import type { StepResult } from '../../src/model/run.ts';
import { describeFailure } from '../../src/verdict/failed-case.ts';
import { createIteration } from '../support/factories/suite-factory.ts';

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
    expect(describeFailure(iteration, { steps: [okStep, failedStep], overruling: null })).toEqual({
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

  it('is unscored where a fault ended the iteration without a result', () => {
    const read = (fields: Parameters<typeof createIteration>[0]) =>
      describeFailure(createIteration(fields), { steps: null, overruling: null }).result;
    expect(read({ status: 'failed', result: null, error: 'The recording is stale.' })).toBe('unscored');
    expect(read({ status: 'failed', result: 'failed' })).toBe('failed');
    expect(read({ status: 'cancelled', result: null })).toBe('cancelled');
  });

  it('lists a repeated reason once', () => {
    const iteration = createIteration({ result: 'failed', error: 'Expected 4, got 5.' });
    const steps = [{ ...failedStep, evidence: {} }];
    expect(describeFailure(iteration, { steps, overruling: null }).reasons).toEqual(['Expected 4, got 5.']);
  });

  it('gives the error of a failed call once, and what else failed', () => {
    const missing = 'The server does not list "ad"; did you mean "add"?';
    const calls = (error: string) => ({ toolCalls: [{ name: 'ad', args: {}, ok: false, error }] });
    const list = (error: string, ofCall = missing) => {
      const steps = [{ ...failedStep, kind: 'toolCall', reason: missing, evidence: calls(ofCall) }];
      return describeFailure(createIteration({ result: 'failed', error }), { steps, overruling: null }).reasons;
    };
    expect(list(missing)).toEqual([missing]);
    expect(list(`${missing}\nfirstToolWas: no tool was called.`)).toEqual([
      missing,
      'firstToolWas: no tool was called.',
    ]);
    expect(list(missing, 'overflow')).toEqual([missing, 'ad: overflow']);
  });

  it.each([
    ['timed_out', null, 'The iteration ran out of time.'],
    ['cancelled', null, 'The iteration was cancelled before it had a result.'],
    ['completed', 'failed', 'The service gave no reason; it says "failed".'],
    ['paused', null, 'The service gave no reason; it says "paused".'],
  ])('has a reason where the service gives none: %s, %s', (status, result, reason) => {
    const iteration = createIteration({ status, result, error: ' ' });
    expect(describeFailure(iteration, { steps: null, overruling: null })).toMatchObject({
      reasons: [reason],
      step: null,
    });
  });

  it('lists first why the gate overruled the service, with the step if there is one', () => {
    const step = { id: 'is-five', index: 2, kind: 'assert' };
    const overrule = (overruling: Exclude<OwnJudgement, { kind: 'passed' }>) => {
      const { result, reasons, step } = describeFailure(createIteration(), { steps: null, overruling });
      return { result, reasons, step };
    };
    expect(overrule({ kind: 'failed', reason: 'It is 4.', step })).toEqual({
      result: 'failed',
      reasons: ['It is 4.'],
      step,
    });
    expect(overrule({ kind: 'unscored', reason: 'No trace.' })).toEqual({
      result: 'unscored',
      reasons: ['No trace.'],
      step: null,
    });
  });
});
