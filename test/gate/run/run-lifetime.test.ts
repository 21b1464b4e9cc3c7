import { describe, expect, it } from 'vitest';
import { CancelledError, DeadlineError, ServerStartError } from '../../../src/base/errors.ts';
import { startRunLifetime } from '../../../src/gate/run/run-lifetime.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const neverAborts = new AbortController().signal;

describe('startRunLifetime', () => {
  it('cancels the run when the time is up, and stops collecting ten seconds later', async () => {
    const clock = new ManualClock();
    using lifetime = startRunLifetime(clock, { timeoutMs: 60_000, signal: neverAborts });
    await clock.advance(59_999);
    expect(lifetime.cancelRun.aborted).toBe(false);
    await clock.advance(1);
    expect(lifetime.cancelRun.reason).toBeInstanceOf(DeadlineError);
    expect(lifetime.abort.aborted).toBe(false);
    await clock.advance(10_000);
    expect(lifetime.abort.reason).toBe(lifetime.cancelRun.reason);
  });

  it('lets no operation wait beyond the end of collecting', async () => {
    const clock = new ManualClock();
    using lifetime = startRunLifetime(clock, { timeoutMs: 60_000, signal: neverAborts });
    expect(lifetime.deadline.remainingMs()).toBe(70_000);
    await clock.advance(70_000);
    expect(lifetime.deadline.remainingMs()).toBe(0);
  });

  it('cancels the run for a reason that comes up, and keeps the first one', async () => {
    const clock = new ManualClock();
    using lifetime = startRunLifetime(clock, { timeoutMs: 60_000, signal: neverAborts });
    const lost = new ServerStartError('The server died.');
    lifetime.cancelOn(Promise.resolve(lost));
    await clock.advance(60_000);
    expect(lifetime.cancelRun.reason).toBe(lost);
    expect(lifetime.abort.reason).toBe(lost);
  });

  it('stops everything at once when the caller does', () => {
    const caller = new AbortController();
    using lifetime = startRunLifetime(new ManualClock(), { timeoutMs: 60_000, signal: caller.signal });
    const reason = new CancelledError();
    caller.abort(reason);
    expect([lifetime.cancelRun.reason, lifetime.abort.reason]).toEqual([reason, reason]);
  });

  it('stops at once if the caller had stopped before', () => {
    const reason = new CancelledError('Before.');
    using lifetime = startRunLifetime(new ManualClock(), { timeoutMs: 60_000, signal: AbortSignal.abort(reason) });
    expect([lifetime.cancelRun.reason, lifetime.abort.reason]).toEqual([reason, reason]);
  });

  it('treats a reason other than the gate’s as a cancellation', () => {
    using lifetime = startRunLifetime(new ManualClock(), { timeoutMs: 60_000, signal: AbortSignal.abort() });
    expect(lifetime.abort.reason).toBeInstanceOf(CancelledError);
    expect(lifetime.abort.reason).toMatchObject({ exitCode: 130, cause: expect.any(DOMException) });
  });

  it('ends all waits when it is disposed, and ignores later events', async () => {
    const clock = new ManualClock();
    const late = Promise.withResolvers<ServerStartError>();
    const lifetime = startRunLifetime(clock, { timeoutMs: 60_000, signal: neverAborts });
    lifetime.cancelOn(late.promise);
    lifetime[Symbol.dispose]();
    late.resolve(new ServerStartError('Too late.'));
    await clock.advance(120_000);
    expect(clock.sleeping).toBe(0);
    expect(lifetime.cancelRun.aborted).toBe(false);
  });
});
