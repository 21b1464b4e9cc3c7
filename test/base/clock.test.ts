import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';

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
