import { describe, expect, it } from 'vitest';
import { createProviderPacer, readResetMs, readRetryAfterMs } from '../../src/models/rate-limits.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';

const date = 'Thu, 01 Jan 2026 00:00:00 GMT';

describe('readResetMs', () => {
  const readOpenAi = (reset: string) =>
    readResetMs({ date, 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': reset });

  it.each([
    ['1s', 1000],
    ['6m0s', 360_000],
    ['1h2m3s', 3_723_000],
    ['20ms', 20],
    ['8.64s', 8640],
    ['30', 30_000],
    [String(Date.parse(date) + 5000), 5000],
    ['2026-01-01T00:00:12Z', 12_000],
  ])('reads %s', (reset, expectedMs) => {
    expect(readOpenAi(reset)).toBe(expectedMs);
  });

  it.each(['', 'soon', '-1s', '1y', '0', '0s', '2025-12-31T23:59:59Z', 'NaN', '1e3', '1s2'])(
    'makes nothing of %j',
    (reset) => {
      expect(readOpenAi(reset)).toBeUndefined();
    },
  );

  it('reads the longest wait of the limits of Anthropic that are used up, and of no other', () => {
    const headers = {
      date,
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:05Z',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:09Z',
      'anthropic-ratelimit-tokens-remaining': '2000',
      'anthropic-ratelimit-tokens-reset': '2026-01-01T00:01:00Z',
    };
    expect(readResetMs(headers)).toBe(9000);
  });

  it('makes nothing of a time without the Date header to compare it with', () => {
    const headers = {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:05Z',
    };
    expect(readResetMs(headers)).toBeUndefined();
  });
});

describe('readRetryAfterMs', () => {
  it('reads the most exact of what an answer says', () => {
    const limit = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '3s' };
    expect(readRetryAfterMs({ ...limit, 'retry-after': '2', 'retry-after-ms': '1500' })).toBe(1500);
    expect(readRetryAfterMs({ ...limit, 'retry-after': '2' })).toBe(2000);
    expect(readRetryAfterMs(limit)).toBe(3000);
    expect(readRetryAfterMs({ ...limit, 'retry-after': 'soon' })).toBe(3000);
    expect(readRetryAfterMs({ ...limit, 'retry-after': '0' })).toBeUndefined();
    expect(readRetryAfterMs({})).toBeUndefined();
  });
});

describe('createProviderPacer', () => {
  it('lets the first calls begin at once, and those after a pause when it is over', async () => {
    const clock = new VirtualClock();
    const pacer = createProviderPacer(clock, () => 0);
    await pacer.waitForTurn();
    expect(clock.sleepsMs).toEqual([]);
    pacer.pause(4000);
    await pacer.waitForTurn();
    await pacer.waitForTurn();
    expect(clock.sleepsMs).toEqual([4000]);
  });

  /** How long each of so many calls waits, one after the other. */
  async function measureWaits(clock: VirtualClock, pacer: ReturnType<typeof createProviderPacer>, calls: number) {
    const waits: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      const beganMs = clock.monotonicMs();
      await pacer.waitForTurn();
      waits.push(Math.round(clock.monotonicMs() - beganMs));
      pacer.speedUp();
    }
    return waits;
  }

  it('halves its pace when a call is refused, and is back at the first one after ten answers', async () => {
    const clock = new VirtualClock();
    const pacer = createProviderPacer(clock, () => 0);
    expect(await measureWaits(clock, pacer, 12)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 200, 200]);
    pacer.slowDown();
    const waits = await measureWaits(clock, pacer, 12);
    expect(waits).toEqual([400, 364, 333, 308, 286, 267, 250, 235, 222, 211, 200, 200]);
  });

  it('keeps the pace that it is given, of which twice as many begin at once', async () => {
    const clock = new VirtualClock();
    const pacer = createProviderPacer(clock, () => 0, 2);
    expect(await measureWaits(clock, pacer, 6)).toEqual([0, 0, 0, 0, 500, 500]);
    pacer.slowDown();
    expect((await measureWaits(clock, pacer, 1))[0]).toBe(1000);
    const slow = new VirtualClock();
    expect(
      await measureWaits(
        slow,
        createProviderPacer(slow, () => 0, 0.5),
        3,
      ),
    ).toEqual([0, 2000, 2000]);
  });

  it('counts refusals of calls that were under way together once, and never stops', async () => {
    const clock = new VirtualClock();
    const pacer = createProviderPacer(clock, () => 0);
    for (let call = 0; call < 10; call += 1) pacer.slowDown();
    expect(await measureWaits(clock, pacer, 1)).toEqual([400]);
    for (let refusal = 0; refusal < 20; refusal += 1) {
      await clock.sleep(1000);
      pacer.slowDown();
    }
    const waits = await measureWaits(clock, pacer, 20);
    expect(waits[0]).toBe(2000);
    expect(waits.at(-1)).toBe(200);
    expect(waits.reduce((sum, waitMs) => sum + waitMs, 0)).toBeLessThan(12_000);
  });

  it('pauses for no longer than a minute', async () => {
    const clock = new VirtualClock();
    const pacer = createProviderPacer(clock, () => 0);
    pacer.pause(86_400_000);
    await pacer.waitForTurn();
    expect(clock.sleepsMs).toEqual([60_000]);
  });
});
