import { describe, expect, it } from 'vitest';
import { CancelledError, DeadlineError, ServerStartError } from '../../../src/base/errors.ts';
import { startWatch } from '../../../src/gate/run/run-lifetime.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const neverAborts = new AbortController().signal;

describe('startWatch', () => {
  it('calls the run off when the time is up, and stops collecting ten seconds later', async () => {
    const clock = new ManualClock();
    using watch = startWatch(clock, { timeoutMs: 60_000, signal: neverAborts });
    await clock.advance(59_999);
    expect(watch.callOff.aborted).toBe(false);
    await clock.advance(1);
    expect(watch.callOff.reason).toBeInstanceOf(DeadlineError);
    expect(watch.stop.aborted).toBe(false);
    await clock.advance(10_000);
    expect(watch.stop.reason).toBe(watch.callOff.reason);
  });

  it('has nothing wait beyond the end of collecting', async () => {
    const clock = new ManualClock();
    using watch = startWatch(clock, { timeoutMs: 60_000, signal: neverAborts });
    expect(watch.deadline.remainingMs()).toBe(70_000);
    await clock.advance(70_000);
    expect(watch.deadline.remainingMs()).toBe(0);
  });

  it('calls the run off for a reason that comes up, and keeps the first one', async () => {
    const clock = new ManualClock();
    using watch = startWatch(clock, { timeoutMs: 60_000, signal: neverAborts });
    const lost = new ServerStartError('The server died.');
    watch.addReason(Promise.resolve(lost));
    await clock.advance(60_000);
    expect(watch.callOff.reason).toBe(lost);
    expect(watch.stop.reason).toBe(lost);
  });

  it('stops everything at once when the caller does', () => {
    const caller = new AbortController();
    using watch = startWatch(new ManualClock(), { timeoutMs: 60_000, signal: caller.signal });
    const reason = new CancelledError();
    caller.abort(reason);
    expect([watch.callOff.reason, watch.stop.reason]).toEqual([reason, reason]);
  });

  it('obeys a caller that had stopped before', () => {
    const reason = new CancelledError('Before.');
    using watch = startWatch(new ManualClock(), { timeoutMs: 60_000, signal: AbortSignal.abort(reason) });
    expect([watch.callOff.reason, watch.stop.reason]).toEqual([reason, reason]);
  });

  it('treats a reason other than the gate’s as a cancellation', () => {
    using watch = startWatch(new ManualClock(), { timeoutMs: 60_000, signal: AbortSignal.abort() });
    expect(watch.stop.reason).toBeInstanceOf(CancelledError);
    expect(watch.stop.reason).toMatchObject({ exitCode: 130, cause: expect.any(DOMException) });
  });

  it('leaves nothing waiting once it is disposed, and ignores what comes after', async () => {
    const clock = new ManualClock();
    const late = Promise.withResolvers<ServerStartError>();
    const watch = startWatch(clock, { timeoutMs: 60_000, signal: neverAborts });
    watch.addReason(late.promise);
    watch[Symbol.dispose]();
    late.resolve(new ServerStartError('Too late.'));
    await clock.advance(120_000);
    expect(clock.sleeping).toBe(0);
    expect(watch.callOff.aborted).toBe(false);
  });
});
