import { describe, expect, it } from 'vitest';
import { BudgetError } from '../../../src/base/errors.ts';
import { startWallTimeBudget } from '../../../src/gate/run/budget-monitor.ts';
import { startRunLifetime } from '../../../src/gate/run/run-lifetime.ts';
import { demanded } from '../../support/policy-factory.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const begin = () => {
  const clock = new ManualClock();
  const lifetime = startRunLifetime(clock, { timeoutMs: 60_000, signal: new AbortController().signal });
  return { clock, lifetime };
};

describe('startWallTimeBudget', () => {
  it('cancels the run when it is used up', async () => {
    const { clock, lifetime } = begin();
    using _lifetime = lifetime;
    using _budget = startWallTimeBudget(demanded(5000), { clock, lifetime });
    await clock.advance(4999);
    expect(lifetime.cancelRun.aborted).toBe(false);
    await clock.advance(1);
    expect(lifetime.cancelRun.reason).toBeInstanceOf(BudgetError);
    expect(String(lifetime.cancelRun.reason)).toContain(
      'The run was cancelled after 5 s, its budget wallTime (from policy.yaml:3).',
    );
  });

  it('cancels nothing once the run is over, or without a budget', async () => {
    const { clock, lifetime } = begin();
    using _lifetime = lifetime;
    startWallTimeBudget(demanded(5000), { clock, lifetime })[Symbol.dispose]();
    startWallTimeBudget(null, { clock, lifetime });
    await clock.advance(10_000);
    expect(lifetime.cancelRun.aborted).toBe(false);
  });
});
