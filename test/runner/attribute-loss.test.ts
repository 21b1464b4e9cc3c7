import { describe, expect, it } from 'vitest';

import { attributeLoss, settleRepeated } from '../../src/runner/attribute-loss.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import type { ProcessLoss } from '../../src/engine/process-loss.ts';

const crash = { exitCode: null, signal: 'SIGSEGV', lastLines: ['boom'] };
const leave = { exitCode: 0, signal: null, lastLines: [] };

function createOutcome(fields: Partial<CaseOutcome>): CaseOutcome {
  return {
    status: 'completed',
    result: 'passed',
    error: null,
    steps: [],
    actualToolCalls: [],
    expectedToolCalls: [],
    startedAtMs: 0,
    durationMs: 1,
    trace: { messages: [], spans: [], prompts: [], metadata: { predicates: [] } },
    predicates: [],
    protocolVersion: '2025-11-25',
    usage: null,
    fixtures: [],
    warnings: [],
    judges: [],
    usedAnswers: [],
    runStop: null,
    loss: null,
    ...fields,
  };
}
const lose = (loss: Partial<ProcessLoss>) =>
  createOutcome({
    status: 'failed',
    result: null,
    error: 'Lost.',
    loss: { end: crash, isOwn: false, isDuringCall: true, ...loss },
  });
const passes = createOutcome({});
const fails = createOutcome({ result: 'failed', error: 'Wrong.' });
const summarize = ({ status, result }: CaseOutcome) => [status, result];

describe('attributeLoss', () => {
  it('fails an iteration under which its own process ended', () => {
    expect(attributeLoss(lose({ isOwn: true }))).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'Lost.',
    });
  });

  it('asks for another try where the process served others, connected or not', () => {
    expect([lose({}), lose({ isDuringCall: false })].map(attributeLoss)).toEqual(['again', 'again']);
  });

  it('leaves an iteration without a result whose own process ended before it had a session', () => {
    const outcome = lose({ isOwn: true, isDuringCall: false });
    expect(attributeLoss(outcome)).toBe(outcome);
  });

  it('does not change an iteration that ended for another reason', () => {
    expect([passes, fails].map(attributeLoss)).toEqual([passes, fails]);
  });
});

describe('settleRepeated', () => {
  const again = lose({ isOwn: true, end: { ...crash } });

  it('fails the iteration that ends the process again, and passes the others', () => {
    const settled = settleRepeated([
      { shared: lose({}), alone: passes },
      { shared: lose({}), alone: again },
    ]);
    expect(settled.map(summarize)).toEqual([
      ['completed', 'passed'],
      ['completed', 'failed'],
    ]);
  });

  it('withholds a pass where nothing repeats the crash', () => {
    const [outcome] = settleRepeated([{ shared: lose({}), alone: passes }]);
    expect(outcome).toMatchObject({ status: 'failed', result: null });
    expect(outcome?.error).toBe(
      'The server was ended by SIGSEGV under this iteration and did not when the iteration was run again alone, so the crash cannot be attributed to a case.\nIts last lines on stderr:\nboom',
    );
  });

  it('does not attribute a crash to another crash', () => {
    const settled = settleRepeated([
      { shared: lose({ end: { ...crash } }), alone: again },
      { shared: lose({}), alone: passes },
    ]);
    expect(settled.map(({ result }) => result)).toEqual(['failed', null]);
  });

  it.each([
    ['the process left with code 0', lose({ end: leave })],
    ['the iteration had no session when the process ended', lose({ isDuringCall: false })],
  ])('passes an iteration that passes alone where %s', (_, shared) => {
    expect(settleRepeated([{ shared, alone: passes }])).toEqual([passes]);
  });

  it('keeps a failure that the iteration has alone, and that it has no result alone', () => {
    const unreached = lose({ isOwn: true, isDuringCall: false });
    const shared = lose({});
    expect(settleRepeated([fails, unreached].map((alone) => ({ shared, alone })))).toEqual([fails, unreached]);
  });
});
