import { describe, expect, it } from 'vitest';
import { type Confirmation, confirmSuspects } from '../../../src/gate/run/confirm.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';

/** Confirms cases that need this many further results. A round adds one result to each, except those of `stuck`. */
function confirm(needed: Record<string, number>, given: Partial<Confirmation> & { stuck?: string; roundMs?: number }) {
  const clock = new ManualClock();
  const results = new Map(Object.keys(needed).map((id) => [id, 0]));
  const rounds: string[] = [];
  const { stuck, roundMs = 0, ...overrides } = given;
  const confirmation: Confirmation = {
    listSuspects: () =>
      Object.entries(needed)
        .map(([id, count]) => ({ id, rounds: count - (results.get(id) ?? 0) }))
        .filter(({ rounds: left }) => left > 0),
    countResults: (id) => results.get(id) ?? 0,
    runFurther: async (ids) => {
      rounds.push([...ids].join(' '));
      for (const id of ids) if (id !== stuck) results.set(id, (results.get(id) ?? 0) + 1);
      await clock.advance(roundMs);
    },
    findObstacle: () => null,
    mostIterations: 100,
    atOnce: 1,
    remainingMs: () => Infinity,
    expectedMs: 0,
    ...overrides,
  };
  return { rounds, ended: confirmSuspects(confirmation, clock) };
}

describe('confirmSuspects', () => {
  it('runs each case until it is settled', async () => {
    const { rounds, ended } = confirm({ a: 1, b: 3 }, {});
    expect(await ended).toBeNull();
    expect(rounds).toEqual(['a b', 'b', 'b']);
  });

  it('runs only cases that the iterations suffice for', async () => {
    const { rounds, ended } = confirm({ a: 2, b: 3 }, { mostIterations: 4 });
    expect(await ended).toBeNull();
    expect(rounds).toEqual(['a', 'a']);
  });

  it('runs no case again that had no result', async () => {
    const { rounds, ended } = confirm({ a: 2, b: 2 }, { stuck: 'a' });
    expect(await ended).toBeNull();
    expect(rounds).toEqual(['a b', 'b']);
  });

  it('ends where another round may outlast the time, or a budget', async () => {
    const slow = confirm({ a: 5 }, { expectedMs: 1000, remainingMs: () => 2999 });
    expect(await slow.ended).toBe('There is no time for a further round.');
    expect(slow.rounds).toEqual([]);
    let remaining = 10_000;
    const slower = confirm({ a: 5 }, { roundMs: 2000, remainingMs: () => (remaining -= 2000) });
    expect(await slower.ended).toBe('There is no time for a further round.');
    expect(slower.rounds).toEqual(['a', 'a']);
    const poor = confirm({ a: 5 }, { findObstacle: () => 'No budget.' });
    expect(await poor.ended).toBe('No budget.');
  });
});
