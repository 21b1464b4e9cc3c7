import { array, assert, asyncProperty, integer, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer, unlimitedPacer } from '../../src/base/pacing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

describe('createPacer', () => {
  it('lets a burst through at once and spreads the rest', async () => {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 2, burst: 3 });
    const turnsMs: number[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      await pacer.waitForTurn();
      turnsMs.push(clock.monotonicMs());
    }
    expect(turnsMs).toEqual([0, 0, 0, 500, 1000, 1500]);
  });

  it('fills up while nobody asks, to the burst and no further', async () => {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 1, burst: 2 });
    for (let turn = 0; turn < 2; turn += 1) await pacer.waitForTurn();
    clock.advance(3_600_000);
    const startedAtMs = clock.monotonicMs();
    const turnsMs: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await pacer.waitForTurn();
      turnsMs.push(clock.monotonicMs() - startedAtMs);
    }
    expect(turnsMs).toEqual([0, 0, 1000, 2000]);
  });

  it('serves callers that ask together one after the other, in their order', async () => {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 1, burst: 1 });
    const served: number[] = [];
    await Promise.all(
      [0, 1, 2, 3].map(async (caller) => {
        await pacer.waitForTurn();
        served.push(caller);
      }),
    );
    expect(served).toEqual([0, 1, 2, 3]);
    expect(clock.sleepsMs).toEqual([1000, 2000, 3000]);
  });

  it("ends a wait with the signal's reason", async () => {
    const pacer = createPacer(new VirtualClock(), { perSecond: 1, burst: 1 });
    await pacer.waitForTurn();
    const signal = AbortSignal.abort(new Error('Enough.'));
    await expect(pacer.waitForTurn({ signal })).rejects.toThrow('Enough.');
  });

  it('never lets more through in any stretch of time than burst and rate allow', async () => {
    const limits = record({ perSecond: integer({ min: 1, max: 20 }), burst: integer({ min: 1, max: 10 }) });
    const pauses = array(integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 40 });
    await assert(
      asyncProperty(limits, pauses, async ({ perSecond, burst }, pausesMs) => {
        const clock = new VirtualClock();
        const pacer = createPacer(clock, { perSecond, burst });
        const turnsMs: number[] = [];
        for (const pauseMs of pausesMs) {
          clock.advance(pauseMs);
          await pacer.waitForTurn();
          turnsMs.push(clock.monotonicMs());
        }
        for (const [from, startMs] of turnsMs.entries()) {
          for (const [to, endMs] of turnsMs.entries()) {
            if (to < from) continue;
            const allowed = burst + ((endMs - startMs) * perSecond) / 1000;
            expect(to - from + 1).toBeLessThanOrEqual(allowed + 1e-6);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('unlimitedPacer', () => {
  it('never makes anybody wait', async () => {
    await expect(unlimitedPacer.waitForTurn()).resolves.toBeUndefined();
  });
});
