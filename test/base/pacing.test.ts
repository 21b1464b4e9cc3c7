import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  double,
  infiniteStream,
  integer,
  record,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer, unlimitedPacer } from '../../src/base/pacing.ts';
import type { Pacer, Priority, TurnOptions } from '../../src/base/pacing.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';

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

  it('fills up while no caller asks, to the burst and no further', async () => {
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
  async function takeTurns(
    pacer: Pacer,
    clock: VirtualClock,
    { count, ...options }: TurnOptions & { count: number },
  ): Promise<number[]> {
    const startedAtMs = clock.monotonicMs();
    const turnsMs: number[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      await pacer.waitForTurn(options);
      turnsMs.push(Number((clock.monotonicMs() - startedAtMs).toFixed(3)));
    }
    return turnsMs;
  }

  /** A pacer that was refused after so many answers, and draws only what moves nothing. */
  async function openRefused(answers: number, limits: { perSecond?: number; burst?: number } = {}) {
    const clock = new VirtualClock();
    const pacer = createPacer(clock, { perSecond: 1, burst: 5, ...limits }, unspread);
    for (let answer = 0; answer < answers; answer += 1) pacer.speedUp();
    await pacer.waitForTurn();
    pacer.slowDown();
    return { clock, pacer };
  }

  it.each([
    [0, 20_000],
    [1, 20_000],
    [2, 10_000],
    [4, 5000],
    [5, 4000],
    [50, 4000],
  ])(
    'after %d answers loses its burst and takes a share that is the smaller the fewer they were',
    async (answers, intervalMs) => {
      const { clock, pacer } = await openRefused(answers);
      expect(await takeTurns(pacer, clock, { count: 2, priority: 'normal' })).toEqual([intervalMs, 2 * intervalMs]);
    },
  );

  it('slows down to a quarter with every refusal after the first', async () => {
    const { clock, pacer } = await openRefused(10);
    expect(await takeTurns(pacer, clock, { count: 1, priority: 'normal' })).toEqual([4000]);
    pacer.slowDown();
    expect(await takeTurns(pacer, clock, { count: 2, priority: 'normal' })).toEqual([16_000, 32_000]);
  });

  it.each<[TurnOptions, number[]]>([
    [{ priority: 'low' }, [30_000, 60_000, 90_000]],
    [{}, [30_000, 60_000, 90_000]],
    [{ priority: 'low', isRepeated: true }, [30_000, 60_000, 90_000]],
    [{ priority: 'normal' }, [20_000, 40_000, 60_000]],
    [{ priority: 'normal', isRepeated: true }, [6666.667, 13_333.333, 20_000]],
    [{ priority: 'high' }, [2000, 4000, 6000]],
  ])('keeps calls that begin something waiting longest: %j', async (options, turnsMs) => {
    const { clock, pacer } = await openRefused(1);
    expect(await takeTurns(pacer, clock, { count: 3, ...options })).toEqual(turnsMs);
  });

  it('treats all calls the same while none was refused', async () => {
    for (const priority of ['low', 'normal', 'high'] as const) {
      const clock = new VirtualClock();
      const pacer = createPacer(clock, { perSecond: 1, burst: 2 });
      expect(await takeTurns(pacer, clock, { count: 4, priority })).toEqual([0, 0, 1000, 2000]);
    }
  });

  it('lets no caller finish faster than its own pace, and saves up no more than a call that begins something', async () => {
    const { clock, pacer } = await openRefused(1);
    clock.advance(3_600_000);
    const turnsMs = await takeTurns(pacer, clock, { count: 17, priority: 'high' });
    // Its own burst of 5, its own second between calls, and only then what was learnt.
    expect(turnsMs.slice(0, 7)).toEqual([0, 0, 0, 0, 0, 1000, 2000]);
    expect(turnsMs.slice(-3)).toEqual([10_000, 11_000, 12_000]);
    expect(await takeTurns(pacer, clock, { count: 1, priority: 'normal' })).toEqual([12_000]);
  });

  it('returns to its own pace with the answers, and no further', async () => {
    const { clock, pacer } = await openRefused(10, { burst: 1 });
    for (let answers = 0; answers < 3; answers += 1) pacer.speedUp();
    const [turnMs] = await takeTurns(pacer, clock, { count: 1, priority: 'normal' });
    expect(turnMs).toBeCloseTo(4000 * 0.95 ** 3);
    for (let answers = 0; answers < 100; answers += 1) pacer.speedUp();
    expect(await takeTurns(pacer, clock, { count: 2 })).toEqual([1000, 2000]);
  });

  it('spreads callers that were refused together, in their next call and in their pace', async () => {
    const ask = async (draw: number) => {
      const clock = new VirtualClock();
      const pacer = createPacer(clock, { perSecond: 1, burst: 1 }, () => draw);
      clock.advance(100_000);
      await pacer.waitForTurn();
      pacer.slowDown();
      return await takeTurns(pacer, clock, { count: 2, priority: 'normal' });
    };
    expect(await ask(0)).toEqual([2000, 6000]);
    expect(await ask(0.25)).toEqual([7500, 17_500]);
    expect(await ask(0.999)).toEqual([44_970, 74_970]);
  });

  it('keeps half a minute from one question to the next at most', async () => {
    const { clock, pacer } = await openRefused(1);
    for (let refusals = 0; refusals < 100; refusals += 1) pacer.slowDown();
    expect(await takeTurns(pacer, clock, { count: 2, priority: 'normal' })).toEqual([30_000, 60_000]);
  });

  it('does not become faster through refusals if it was slower before', async () => {
    const { clock, pacer } = await openRefused(1, { perSecond: 1 / 60, burst: 1 });
    expect(await takeTurns(pacer, clock, { count: 2 })).toEqual([60_000, 120_000]);
  });

  it('keeps to its own limits and to the order of the callers, whatever is asked for and refused', async () => {
    const call = record({
      pauseMs: integer({ min: 0, max: 60_000 }),
      priority: constantFrom<Priority>('low', 'normal', 'high'),
      isRepeated: boolean(),
      isRefused: boolean(),
    });
    await assert(
      asyncProperty(
        array(call, { minLength: 1, maxLength: 40 }),
        infiniteStream(double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        async (calls, draws) => {
          const clock = new VirtualClock();
          const pacer = createPacer(clock, { perSecond: 1, burst: 5 }, () => draws.next().value);
          const turnsMs: number[] = [];
          for (const { pauseMs, isRefused, ...options } of calls) {
            clock.advance(pauseMs);
            const askedMs = clock.monotonicMs();
            await pacer.waitForTurn(options);
            // What is learnt has a bound: the longest interval, its spread, and what a call costs at most.
            expect(clock.monotonicMs() - askedMs).toBeLessThanOrEqual(30_000 * (0.5 + 1.5));
            turnsMs.push(clock.monotonicMs());
            if (isRefused) pacer.slowDown();
            else pacer.speedUp();
          }
          for (const [from, startMs] of turnsMs.entries()) {
            for (const [to, endMs] of turnsMs.entries()) {
              if (to < from) continue;
              expect(endMs).toBeGreaterThanOrEqual(startMs);
              expect(to - from + 1).toBeLessThanOrEqual(5 + (endMs - startMs) / 1000 + 1e-6);
            }
          }
        },
      ),
      { numRuns: 100 },
    );
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
    expect(clock.sleepsMs).toEqual([1000, 2000, 3000, 30_000, 60_000]);
  });

  /** Twenty jobs that each ask about every five seconds, and a service that allows them one call a second in all. */
  async function shareLimit(
    openPacer: (clock: ManualClock, random: () => number) => Pacer,
  ): Promise<{ calls: number; refused: number }> {
    const clock = new ManualClock();
    const limiter = createBucket(clock, { perSecond: 1, burst: 10 });
    const counts = { calls: 0, refused: 0 };
    let seed = 1;
    const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const jobs = Array.from({ length: 20 }, async (_, place) => {
      const pacer = openPacer(clock, random);
      await clock.sleep(place * 250);
      let isRepeated = false;
      while (clock.monotonicMs() < 1_200_000) {
        await pacer.waitForTurn({ priority: 'normal', isRepeated });
        const isRefused = !limiter.take();
        if (clock.monotonicMs() > 300_000) {
          counts.calls += 1;
          counts.refused += isRefused ? 1 : 0;
        }
        if (isRefused) pacer.slowDown();
        else pacer.speedUp();
        isRepeated = isRefused;
        await clock.sleep(5000 * (0.9 + 0.2 * random()));
      }
    });
    await clock.advance(2_000_000);
    await Promise.all(jobs);
    return counts;
  }

  it('leaves most calls of twenty jobs with one key unrefused, of which a steady pace leaves few', async () => {
    const adaptive = await shareLimit((clock, random) => createPacer(clock, { perSecond: 1, burst: 5 }, random));
    const steady = await shareLimit(() => unlimitedPacer);
    expect(adaptive.refused / adaptive.calls).toBeLessThan(0.2);
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
  it('never makes a caller wait, whatever it records', async () => {
    unlimitedPacer.slowDown();
    unlimitedPacer.speedUp();
    await expect(unlimitedPacer.waitForTurn()).resolves.toBeUndefined();
  });
});
