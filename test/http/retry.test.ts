import { array, assert, constantFrom, date, double, integer, oneof, property, record, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GateError, NetworkError, ServiceError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { startDeadline } from '../../src/base/time.ts';
import {
  type AttemptFailure,
  createRetryQuota,
  decideRetryDelay,
  parseRetryAfter,
  retryRequest,
} from '../../src/http/retry.ts';
import { catchError } from '../support/service/service-client.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';

const now = 'Thu, 01 Jan 2026 00:00:00 GMT';

describe('parseRetryAfter', () => {
  it.each([
    ['1', 1000],
    [' 120 ', 120_000],
    ['0.5', 500],
    ['99999', 99_999_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
    ['Thu Jan  1 00:00:30 2026 GMT', 30_000],
  ])('reads %j', (value, expectedMs) => {
    expect(parseRetryAfter(value, now)).toBe(expectedMs);
  });

  it.each([
    undefined,
    '',
    ' ',
    '0',
    '0.0',
    '-5',
    '+5',
    '1e3',
    '0x10',
    'soon',
    'NaN',
    'Infinity',
    '1 s',
    '26-01-01',
    now,
  ])('makes nothing of %j', (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });

  it('makes nothing of a date without the Date header to compare it with, or of one in the past', () => {
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', undefined)).toBeUndefined();
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', 'garbage')).toBeUndefined();
    expect(parseRetryAfter('Wed, 31 Dec 2025 23:59:59 GMT', now)).toBeUndefined();
  });

  it('makes nothing of more digits than a number holds', () => {
    expect(parseRetryAfter('9'.repeat(400), now)).toBeUndefined();
  });
});

describe('decideRetryDelay', () => {
  const input = { attempt: 1, maxAttempts: 5, remainingMs: Infinity, random: 0.5 };

  it('doubles the range of the backoff up to twenty seconds', () => {
    const delays = Array.from({ length: 9 }, (_, made) =>
      decideRetryDelay({ ...input, attempt: made + 1, maxAttempts: 10, random: 1 }),
    );
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000, 20_000]);
  });

  it('draws a wait from zero without a hint of the service, and beyond the hint with one', () => {
    expect(decideRetryDelay({ ...input, random: 0 })).toBe(0);
    expect(decideRetryDelay({ ...input, random: 0, retryAfterMs: 4000 })).toBe(4000);
    expect(decideRetryDelay({ ...input, random: 0.5, retryAfterMs: 4000 })).toBe(4200);
    expect(decideRetryDelay({ ...input, random: 0.5, retryAfterMs: 60_000 })).toBe(60_500);
  });

  it.each([0, -1, undefined])('takes %j for no hint', (retryAfterMs) => {
    expect(decideRetryDelay({ ...input, retryAfterMs })).toBe(250);
  });

  it('stops after the last attempt', () => {
    expect(decideRetryDelay({ ...input, attempt: 4 })).toBeDefined();
    expect(decideRetryDelay({ ...input, attempt: 5 })).toBeUndefined();
  });

  it('stops when the wait would not end before the deadline', () => {
    expect(decideRetryDelay({ ...input, remainingMs: 251 })).toBe(250);
    expect(decideRetryDelay({ ...input, remainingMs: 250 })).toBeUndefined();
    expect(decideRetryDelay({ ...input, remainingMs: 0 })).toBeUndefined();
  });
});

describe('createRetryQuota', () => {
  it('gives as many as there are, and one more for each that is given back', () => {
    const quota = createRetryQuota(2);
    expect([quota.take(), quota.take(), quota.take()]).toEqual([true, true, false]);
    quota.giveBack();
    expect([quota.take(), quota.take()]).toEqual([true, false]);
  });

  it('never holds more than it began with', () => {
    const quota = createRetryQuota(1);
    quota.giveBack();
    expect([quota.take(), quota.take()]).toEqual([true, false]);
  });
});

describe('whatever a service sends as Retry-After', () => {
  const digits = array(constantFrom('0', '1', '5', '9', '.'), { maxLength: 40 }).map((characters) =>
    characters.join(''),
  );
  const httpDate = date({ noInvalidDate: true }).map((value) => value.toUTCString());
  const header = oneof(
    string(),
    string({ unit: 'binary' }),
    digits,
    httpDate,
    integer().map(String),
    double().map(String),
  );
  const dateHeader = oneof(constantFrom(undefined, '', now), httpDate, string());
  const circumstances = record({
    attempt: integer({ min: 1, max: 1100 }),
    maxAttempts: integer({ min: 1, max: 2000 }),
    remainingMs: oneof(constantFrom(0, Infinity), double({ min: 0, max: 1e9, noNaN: true })),
    random: double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });

  it('gives a wait that is never shorter than requested, never beyond the deadline and always a number', () => {
    assert(
      property(header, dateHeader, circumstances, (value, date, given) => {
        const retryAfterMs = parseRetryAfter(value, date);
        expect(retryAfterMs === undefined || (Number.isFinite(retryAfterMs) && retryAfterMs > 0)).toBe(true);

        const delayMs = decideRetryDelay({ ...given, retryAfterMs });
        if (delayMs === undefined) return;
        expect(Number.isFinite(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
        expect(delayMs).toBeLessThan(given.remainingMs);
        if (retryAfterMs === undefined) expect(delayMs).toBeLessThanOrEqual(20_000);
        else expect(delayMs).toBeLessThanOrEqual(retryAfterMs + 1000);
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('retryRequest', () => {
  /** Fails as often as there are failures, then answers. */
  const send = async (failures: AttemptFailure[], { isSafe = true, timeoutMs = 60_000, retries = 25 } = {}) => {
    const clock = new VirtualClock();
    return await retryRequest(
      async () => {
        const failure = failures.shift();
        return failure === undefined ? { ok: true, answer: 'answered' } : { ok: false, ...failure };
      },
      {
        isSafe,
        maxAttempts: 3,
        clock,
        quota: createRetryQuota(retries),
        random: () => 0.5,
        logger: silentLogger,
        signal: new AbortController().signal,
        deadlines: [startDeadline(clock, timeoutMs, 'The call')],
      },
    );
  };
  const lost = (): AttemptFailure => ({ error: new NetworkError('Lost.'), repeat: 'if-safe' });
  const refused = (hint?: string): AttemptFailure => ({
    error: new ServiceError('Refused.', { code: 'NO', status: 400, hint }),
    repeat: 'never',
  });

  it('repeats until an attempt is answered', async () => {
    expect(await send([lost(), lost()])).toBe('answered');
  });

  it.each<[string, AttemptFailure[], Parameters<typeof send>[1], Partial<GateError>]>([
    ['a refusal', [refused('First.')], {}, { message: 'Refused.', hint: 'First.', mayHaveHappened: false }],
    ['a lost request that must not run twice', [lost()], { isSafe: false }, { hint: undefined, mayHaveHappened: true }],
    ['a refusal after a lost request', [lost(), refused()], {}, { message: 'Refused.', mayHaveHappened: true }],
    ['the last attempt', [lost(), lost(), lost()], {}, { hint: 'It was tried 3 times in 750 ms.' }],
    [
      'a spent quota',
      [lost(), lost()],
      { retries: 1 },
      { hint: 'Too many calls failed in a row to try any of them again.' },
    ],
    [
      'a wait that goes beyond the deadline, after its own hint',
      [{ ...lost(), error: new NetworkError('Lost.', { hint: 'First.' }), retryAfterMs: 90_000 }],
      {},
      { hint: 'First. The wait before another attempt would not have ended before the deadline.' },
    ],
  ])('ends with the error of %s', async (_, failures, options, expected) => {
    const [{ error: last }] = failures.slice(-1) as [AttemptFailure];
    const error = await catchError(send(failures, options));
    expect(error).toBe(last);
    expect(error).toMatchObject(expected);
  });
});
