import { describe, expect, it } from 'vitest';
import { BudgetError } from '../../../src/base/errors.ts';
import { startWallTimeBudget } from '../../../src/gate/run/wall-time.ts';
import { startWatch } from '../../../src/gate/run/run-lifetime.ts';
import { demanded } from '../../support/policy-factory.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const begin = () => {
  const clock = new ManualClock();
  const watch = startWatch(clock, { timeoutMs: 60_000, signal: new AbortController().signal });
  return { clock, watch };
};

describe('startWallTimeBudget', () => {
  it('calls the gate off when it is used up', async () => {
    const { clock, watch } = begin();
    using _watch = watch;
    using _budget = startWallTimeBudget(demanded(5000), { clock, watch });
    await clock.advance(4999);
    expect(watch.callOff.aborted).toBe(false);
    await clock.advance(1);
    expect(watch.callOff.reason).toBeInstanceOf(BudgetError);
    expect(String(watch.callOff.reason)).toContain(
      'The run was cancelled after 5 s, its budget wallTime (from policy.yaml:3).',
    );
  });

  it('calls nothing off once the run is over, or without a budget', async () => {
    const { clock, watch } = begin();
    using _watch = watch;
    startWallTimeBudget(demanded(5000), { clock, watch })[Symbol.dispose]();
    startWallTimeBudget(null, { clock, watch });
    await clock.advance(10_000);
    expect(watch.callOff.aborted).toBe(false);
  });
});
