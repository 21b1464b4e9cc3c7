import { describe, expect, it } from 'vitest';
import {
  BudgetError,
  CancelledError,
  ConfigurationError,
  DeadlineError,
  NetworkError,
  ProtocolError,
  ServerStartError,
} from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { race, systemClock } from '../../../src/base/time.ts';
import { createTeardown, explainInterruption, startRunLifetime } from '../../../src/gate/run/run-lifetime.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';

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

describe('explainInterruption', () => {
  it.each([
    [new ServerStartError('The server exited with code 1.'), 'server-lost'],
    [new DeadlineError('The gate was not over after 3 s.'), 'deadline'],
    [new BudgetError('The run was cancelled after 3 s.'), 'budget-exceeded'],
    [new CancelledError('Stopped by SIGINT.'), 'cancelled'],
    [new NetworkError('Connection refused'), 'infrastructure'],
    [new ProtocolError('The answer is no JSON'), 'infrastructure'],
  ] as const)('takes %s for %s', (error, code) => {
    expect(explainInterruption(error).code).toBe(code);
  });

  it('says what happened and what to do, in sentences', () => {
    const error = new ServerStartError('The server exited', { hint: 'Read its last words.' });
    expect(explainInterruption(error).message).toBe('The server exited. Read its last words.');
  });

  it('quotes the last lines of a server, twenty at most', () => {
    const stderrTail = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);
    const { output } = explainInterruption(new ServerStartError('The server exited.', { stderrTail }));
    expect([output?.length, output?.[0], output?.at(-1)]).toEqual([20, 'line 31', 'line 50']);
    expect(explainInterruption(new ServerStartError('It exited.'))).not.toHaveProperty('output');
  });

  it.each([
    [new TypeError('x is not a function')],
    [new ConfigurationError([{ code: 'bad', message: 'bad' }])],
    ['text'],
  ])('throws on what is no fault of the surroundings: %s', (error) => {
    expect(() => explainInterruption(error)).toThrow(error);
  });
});

function createRecorder() {
  const warnings: string[] = [];
  return { warnings, logger: { ...silentLogger, warning: (message: string) => void warnings.push(message) } };
}

describe('createTeardown', () => {
  it('undoes everything at the same time', async () => {
    const { logger, warnings } = createRecorder();
    const teardown = createTeardown({ clock: systemClock, logger });
    const first = Promise.withResolvers<void>();
    const log: string[] = [];
    // The first ends only after the second has begun, which would never happen one after the other.
    teardown.add('do the first', async () => {
      await first.promise;
      log.push('first');
    });
    teardown.add('do the second', async () => {
      log.push('second');
      first.resolve();
    });
    await teardown[Symbol.asyncDispose]();
    expect(log).toEqual(['second', 'first']);
    expect(warnings).toEqual([]);
  });

  it('warns about what cannot be undone, and undoes the rest', async () => {
    const { logger, warnings } = createRecorder();
    const teardown = createTeardown({ clock: systemClock, logger });
    let isDone = false;
    teardown.add('close the tunnel', async () => {
      throw new Error('the service is gone');
    });
    teardown.add('stop the server', async () => {
      isDone = true;
    });
    await teardown[Symbol.asyncDispose]();
    expect(isDone).toBe(true);
    expect(warnings).toEqual(['Could not close the tunnel: the service is gone. The verdict stands.']);
  });

  it('warns about what takes longer than the time that is left', async () => {
    const { logger, warnings } = createRecorder();
    const clock = new ManualClock();
    const teardown = createTeardown({ clock, logger }, () => 20_000);
    teardown.add('close the tunnel', async (signal) => await race(new Promise(() => {}), { signals: [signal] }));
    const over = teardown[Symbol.asyncDispose]();
    await clock.advance(19_999);
    expect(warnings).toEqual([]);
    await clock.advance(1);
    await over;
    expect(warnings).toEqual(['Could not close the tunnel: there was no time left. The verdict stands.']);
    expect(clock.sleeping).toBe(0);
  });

  it.each<[string, (() => number) | undefined, boolean]>([
    ['nothing is said of the time', undefined, true],
    ['there is none left', () => 0, true],
    ['seconds are left', () => 2500, true],
    ['there is time', () => 20_000, false],
    ['nothing limits it', () => Number.POSITIVE_INFINITY, false],
  ])('is in a hurry or not where %s', async (_, readTimeLeftMs, expected) => {
    const { logger } = createRecorder();
    const teardown = createTeardown({ clock: systemClock, logger }, readTimeLeftMs);
    const seen: boolean[] = [];
    teardown.add('close the tunnel', async (signal, isHurried) => {
      signal.throwIfAborted();
      seen.push(isHurried);
    });
    await teardown[Symbol.asyncDispose]();
    expect(seen).toEqual([expected]);
  });
});
