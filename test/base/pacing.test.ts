import { array, assert, asyncProperty, integer, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer, unlimitedPacer } from '../../src/base/pacing.ts';
import type { Pacer } from '../../src/base/pacing.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** The middle of what may be drawn, which moves nothing. */
const unspread = () => 0.5;

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

describe('a pacer whose calls are refused', () => {
  async function takeTurns(pacer: Pacer, clock: VirtualClock, count: number): Promise<number[]> {
    const startedAtMs = clock.monotonicMs();
    const turnsMs: number[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      await pacer.waitForTurn();
      turnsMs.push(clock.monotonicMs() - startedAtMs);
    }
    return turnsMs;
  }

  it('loses what is left of the burst and goes on at a third of the pace', async () => {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 1, burst: 5 }, unspread);
    await pacer.waitForTurn();
    pacer.slowDown();
    expect(await takeTurns(pacer, clock, 3)).toEqual([3000, 6000, 9000]);
    pacer.slowDown();
    expect(await takeTurns(pacer, clock, 2)).toEqual([9000, 18_000]);
  });

  it('returns to its own pace with the answers, and no further', async () => {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 1, burst: 1 }, unspread);
    await pacer.waitForTurn();
    pacer.slowDown();
    for (let answers = 0; answers < 3; answers += 1) pacer.speedUp();
    const [turnMs] = await takeTurns(pacer, clock, 1);
    expect(turnMs).toBeCloseTo(3000 * 0.9 ** 3);
    for (let answers = 0; answers < 100; answers += 1) pacer.speedUp();
    expect(await takeTurns(pacer, clock, 2)).toEqual([1000, 2000]);
  });

  it('spreads by its interval those who were refused together', async () => {
    const ask = async (draw: number) => {
      const clock = new VirtualClock();
      clock.advance(10_000);
      const pacer = createPacer(clock, { perSecond: 1, burst: 1 }, () => draw);
      await pacer.waitForTurn();
      pacer.slowDown();
      return await takeTurns(pacer, clock, 2);
    };
    expect(await ask(0)).toEqual([3000, 6000]);
    expect(await ask(0.75)).toEqual([3750, 6750]);
  });

  it('never waits longer than half a minute from one call to the next', async () => {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 1, burst: 1 }, unspread);
    for (let refusals = 0; refusals < 100; refusals += 1) pacer.slowDown();
    expect(await takeTurns(pacer, clock, 2)).toEqual([30_000, 60_000]);
  });

  it('is not sped up by refusals where it is slower than that already', async () => {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 1 / 60, burst: 1 }, unspread);
    pacer.slowDown();
    expect(await takeTurns(pacer, clock, 2)).toEqual([60_000, 120_000]);
  });

  it('serves callers in their order even where the pace changes while they wait', async () => {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 1, burst: 3 }, unspread);
    const served: number[] = [];
    const call = async (caller: number) => {
      await pacer.waitForTurn();
      served.push(caller);
    };
    const first = [0, 1, 2, 3, 4, 5].map(call);
    pacer.slowDown();
    const later = [6, 7].map(call);
    await Promise.all([...first, ...later]);
    expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(clock.sleepsMs).toEqual([1000, 2000, 3000, 6000, 9000]);
  });

  /** Twenty jobs that each ask about every five seconds, and a service that allows them one call a second in all. */
  async function shareLimit(openPacer: (clock: ManualClock) => Pacer): Promise<{ calls: number; refused: number }> {
    const clock = new ManualClock();
    const limiter = createBucket(clock, { perSecond: 1, burst: 10 });
    const counts = { calls: 0, refused: 0 };
    let seed = 1;
    const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const jobs = Array.from({ length: 20 }, async (_, place) => {
      const pacer = openPacer(clock);
      await clock.sleep(place * 250);
      while (clock.monotonicMs() < 1_200_000) {
        await pacer.waitForTurn();
        const isRefused = !limiter.take();
        if (clock.monotonicMs() > 300_000) {
          counts.calls += 1;
          counts.refused += isRefused ? 1 : 0;
        }
        if (isRefused) pacer.slowDown();
        else pacer.speedUp();
        await clock.sleep(5000 * (0.9 + 0.2 * random()));
      }
    });
    await clock.advance(2_000_000);
    await Promise.all(jobs);
    return counts;
  }

  it('leaves most calls of twenty jobs with one key unrefused, of which a steady pace leaves few', async () => {
    const adaptive = await shareLimit((clock) => createPacer(clock, { perSecond: 1, burst: 5 }));
    const steady = await shareLimit(() => unlimitedPacer);
    expect(adaptive.refused / adaptive.calls).toBeLessThan(0.25);
    expect(steady.refused / steady.calls).toBeGreaterThan(0.7);
    expect(adaptive.calls - adaptive.refused).toBeGreaterThan(0.7 * (steady.calls - steady.refused));
  });
});

function createBucket(clock: ManualClock, limits: { perSecond: number; burst: number }): { take: () => boolean } {
  let tokens = limits.burst;
  let filledAtMs = 0;
  return {
    take: () => {
      const nowMs = clock.monotonicMs();
      tokens = Math.min(limits.burst, tokens + ((nowMs - filledAtMs) * limits.perSecond) / 1000);
      filledAtMs = nowMs;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

describe('unlimitedPacer', () => {
  it('never makes anybody wait, whatever it is told', async () => {
    unlimitedPacer.slowDown();
    unlimitedPacer.speedUp();
    await expect(unlimitedPacer.waitForTurn()).resolves.toBeUndefined();
  });
});
