import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignShards, type ShardedCase } from '../../src/suite/select.ts';

const cases = fc.uniqueArray(fc.record({ key: fc.string({ maxLength: 3 }), weight: fc.integer({ min: 1, max: 50 }) }), {
  selector: ({ key }) => key,
  maxLength: 40,
});
const total = fc.integer({ min: 1, max: 9 });

function weighShards(list: readonly ShardedCase[], shards: Map<string, number>, count: number): number[] {
  const loads = Array.from({ length: count }, () => 0);
  for (const { key, weight } of list) {
    const index = (shards.get(key) ?? 0) - 1;
    loads[index] = (loads[index] ?? Number.NaN) + weight;
  }
  return loads;
}

describe('assignShards', () => {
  it('gives the longest case a shard of its own where that is fair', () => {
    const list = [
      { key: 'a', weight: 1 },
      { key: 'b', weight: 5 },
      { key: 'c', weight: 2 },
      { key: 'd', weight: 2 },
    ];
    expect(Object.fromEntries(assignShards(list, 2))).toEqual({ a: 2, b: 1, c: 2, d: 2 });
  });

  it('puts every case into exactly one shard, whatever order they come in', () => {
    fc.assert(
      fc.property(cases, total, (list, count) => {
        const shards = assignShards(list, count);
        expect([...shards.keys()].toSorted()).toEqual(list.map(({ key }) => key).toSorted());
        expect([...shards.values()].every((index) => index >= 1 && index <= count)).toBe(true);
        expect(assignShards(list.toReversed(), count)).toEqual(shards);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves no shard empty if there are enough cases, and exceeds Graham’s bound in none', () => {
    fc.assert(
      fc.property(cases, total, (list, count) => {
        fc.pre(list.length >= count);
        const loads = weighShards(list, assignShards(list, count), count);
        expect(Math.min(...loads)).toBeGreaterThan(0);
        const weights = list.map(({ weight }) => weight);
        const sum = weights.reduce((a, b) => a + b, 0);
        const bound = sum / count + (1 - 1 / count) * Math.max(...weights);
        expect(Math.max(...loads)).toBeLessThanOrEqual(bound + 1e-9);
      }),
      { numRuns: 1000 },
    );
  });
});
