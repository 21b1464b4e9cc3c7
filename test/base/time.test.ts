import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  type Clock,
  formatDuration,
  joinSignals,
  parseDuration,
  race,
  startDeadline,
  startTimeLimit,
  systemClock,
} from '../../src/base/time.ts';
import { assert, integer, property, string } from 'fast-check';
import { DeadlineError } from '../../src/base/errors.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';

describe('systemClock', () => {
  it('never goes backwards', () => {
    const readings = Array.from({ length: 1000 }, () => systemClock.monotonicMs());
    expect(readings).toEqual(readings.toSorted((a, b) => a - b));
  });

  it('returns the time of day in epoch milliseconds', () => {
    const before = Date.now();
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  });

  it.each([0, -5, 1])('sleeps for %i ms and goes on', async (delayMs) => {
    await expect(systemClock.sleep(delayMs)).resolves.toBeUndefined();
  });

  it('does not wake at once from a sleep longer than a timer holds', async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleep(2 ** 40, { signal: controller.signal }).then(
      () => 'woke',
      () => 'aborted',
    );
    await systemClock.sleep(5);
    controller.abort();
    expect(await sleeping).toBe('aborted');
  });

  it("rejects with the signal's own reason, before and during a sleep", async () => {
    const reason = new Error('Enough.');
    await expect(systemClock.sleep(60_000, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const sleeping = systemClock.sleep(60_000, { signal: controller.signal });
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });
});

describe('startDeadline', () => {
  it('counts down to zero and stays there', () => {
    const clock = new VirtualClock();
    const deadline = startDeadline(clock, 1000, 'The run');
    const readings = [0, 400, 599, 1, 5000].map((passedMs) => {
      clock.advance(passedMs);
      return deadline.remainingMs();
    });
    expect(readings).toEqual([1000, 600, 1, 0, 0]);
  });

  it('throws once it has passed and names what ran out, but not before', () => {
    const clock = new VirtualClock();
    const deadline = startDeadline(clock, 90_000, 'The run');
    clock.advance(89_999);
    expect(() => deadline.throwIfPassed()).not.toThrow();
    clock.advance(1);
    expect(() => deadline.throwIfPassed()).toThrow(new DeadlineError('The run took longer than 1 min 30 s.'));
  });

  it('has passed at once where no time was given', () => {
    expect(() => startDeadline(new VirtualClock(), 0, 'It').throwIfPassed()).toThrow(DeadlineError);
  });
});

describe('joinSignals', () => {
  it.each([0, 1])('aborts with the reason of signal %i where that aborts first', (index) => {
    const sources = [new AbortController(), new AbortController()];
    using joined = joinSignals(sources.map(({ signal }) => signal));
    expect(joined.signal.aborted).toBe(false);
    sources[index]!.abort('first');
    sources[1 - index]!.abort('second');
    expect(joined.signal.reason).toBe('first');
  });

  it('has aborted where one of the signals has', () => {
    using joined = joinSignals([new AbortController().signal, AbortSignal.abort('before')]);
    expect(joined.signal.reason).toBe('before');
  });

  it('follows no signal any more once it is disposed', () => {
    const source = new AbortController();
    const joined = joinSignals([source.signal]);
    joined[Symbol.dispose]();
    expect(getEventListeners(source.signal, 'abort')).toEqual([]);
    source.abort('late');
    expect(joined.signal.aborted).toBe(false);
  });
});

describe('startTimeLimit', () => {
  it('aborts once the time is up, and not before', async () => {
    const clock = new ManualClock();
    using limit = startTimeLimit(clock, { afterMs: 5000, what: 'The list' });
    await clock.advance(4999);
    expect(limit.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(limit.signal.reason).toEqual(new DeadlineError('The list took longer than 5 s.'));
  });

  it('aborts with the signal that it is given', () => {
    const caller = new AbortController();
    using limit = startTimeLimit(new ManualClock(), { afterMs: 5000, what: 'The list', signal: caller.signal });
    caller.abort('stopped');
    expect(limit.signal.reason).toBe('stopped');
  });

  it('leaves no timer behind', () => {
    const clock = new ManualClock();
    const limit = startTimeLimit(clock, { afterMs: 5000, what: 'The list' });
    expect(clock.sleeping).toBe(1);
    limit[Symbol.dispose]();
    expect(clock.sleeping).toBe(0);
  });
});

describe('parseDuration', () => {
  it.each([
    ['0ms', 0],
    ['250ms', 250],
    ['60s', 60_000],
    ['1.5s', 1500],
    ['30m', 1_800_000],
    ['30min', 1_800_000],
    ['2h', 7_200_000],
    [' 2 h ', 7_200_000],
  ])('reads %j', (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs);
  });

  it.each(['', '60', 's', '-1s', '1d', '1s2', '1h30m', '1,5s', '.5s', '1e3s', 'constructor', '1 toString', '１s'])(
    'does not guess what %j means',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it('never throws and never gives anything but a whole number of milliseconds', () => {
    assert(
      property(string(), (text) => {
        const durationMs = parseDuration(text);
        expect(durationMs === undefined || (Number.isInteger(durationMs) && durationMs >= 0)).toBe(true);
      }),
    );
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [12.4, '12 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [3249, '3.2 s'],
    [60_000, '1 min'],
    [250_000, '4 min 10 s'],
    [3_600_000, '1 h 0 min'],
    [5_415_000, '1 h 30 min'],
  ])('prints %d as %s', (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
  });

  it('prints nothing that a reader has to convert: no 60 s, no 1000 ms', () => {
    assert(
      property(integer({ min: 0, max: 100_000_000 }), (durationMs) => {
        expect(formatDuration(durationMs)).not.toMatch(/\b(?:60 s|60 min|1000 ms)/);
      }),
    );
    expect(formatDuration(59_960)).toBe('1 min');
    expect(formatDuration(999.6)).toBe('1 s');
  });
});

describe('race', () => {
  const never = new Promise<never>(() => {});
  /** Counts listeners, which leave no other trace. */
  const watchSignal = (controller: AbortController) => {
    const { signal } = controller;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    return { signal, count: () => listeners };
  };
  /** A clock whose sleeps end only by their signal. */
  const createCountingClock = () => {
    let sleeping = 0;
    const clock: Clock = {
      now: () => 0,
      monotonicMs: () => 0,
      sleep: (_, { signal } = {}) => {
        sleeping += 1;
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            sleeping -= 1;
            reject(signal.reason);
          });
        });
      },
    };
    return { clock, count: () => sleeping };
  };

  it.each([
    ['resolves', () => Promise.resolve('done'), 'done'],
    ['rejects', () => Promise.reject(new Error('broken')), new Error('broken')],
  ])('%s with the promise, and leaves no listener and no timer behind', async (_, start, expected) => {
    const { signal, count } = watchSignal(new AbortController());
    const { clock, count: countTimers } = createCountingClock();
    const timeout = { clock, afterMs: 1000, onTimeout: () => 'late' };
    const waiting = race(start(), { signals: [signal], timeout });
    expect([count(), countTimers()]).toEqual([1, 1]);
    await expect(waiting.catch((error: unknown) => error)).resolves.toEqual(expected);
    expect([count(), countTimers()]).toEqual([0, 0]);
  });

  it('rejects with the own reason of the signal that aborts, and leaves nothing behind', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const watched = [watchSignal(one), watchSignal(two)];
    const { clock, count } = createCountingClock();
    const timeout = { clock, afterMs: 1000, onTimeout: () => 'late' };
    const waiting = race(never, { signals: watched.map(({ signal }) => signal), timeout });
    two.abort('the second');
    await expect(waiting).rejects.toBe('the second');
    expect([count(), ...watched.map((signal) => signal.count())]).toEqual([0, 0, 0]);
  });

  it('rejects where a signal has aborted before, unless the promise has settled', async () => {
    const signals = [AbortSignal.abort('before')];
    await expect(race(never, { signals })).rejects.toBe('before');
    await expect(race(Promise.resolve(1), { signals })).resolves.toBe(1);
  });

  it('counts an abort more than an error of the promise that says the same in other words', async () => {
    const stop = new AbortController();
    const wrapped = new Promise<never>((_, reject) => {
      stop.signal.addEventListener('abort', () => reject(new Error('wrapped')));
    });
    const waiting = race(wrapped, { signals: [stop.signal] });
    stop.abort('own reason');
    await expect(waiting).rejects.toBe('own reason');
  });

  it('ends with what onTimeout returns or throws, and removes its listeners', async () => {
    const { signal, count } = watchSignal(new AbortController());
    const limit = (onTimeout: () => string) => ({
      signals: [signal],
      timeout: { clock: new VirtualClock(), afterMs: 5, onTimeout },
    });
    await expect(
      race(
        never,
        limit(() => 'late'),
      ),
    ).resolves.toBe('late');
    const refuse = (): string => {
      throw new DeadlineError('Too late.');
    };
    await expect(race(never, limit(refuse))).rejects.toThrow('Too late.');
    expect(count()).toBe(0);
  });
});
