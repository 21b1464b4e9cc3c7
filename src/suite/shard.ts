import { findSmallest } from '../base/lists.ts';
/** Something to be run in one of several jobs, and how long that takes in comparison with the others. */
export interface ShardedCase {
  /** Unique. */
  key: string;
  /** Above 0, in whatever unit. */
  weight: number;
}

/**
 * Assigns every case to one of `total` shards, numbered from 1, so that the shards take about equally long: the longest
 * case first, each to the shard that has least to do (longest processing time first; R. L. Graham, "Bounds on
 * multiprocessing timing anomalies", 1969). Depends on nothing but the cases, in whatever order they come, so that all
 * jobs agree without talking to each other. No shard stays empty while there are cases enough.
 */
export function assignShards(cases: readonly ShardedCase[], total: number): Map<string, number> {
  const loads = Array.from({ length: total }, () => 0);
  const ordered = cases.toSorted((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1));
  return new Map(
    ordered.map(({ key, weight }) => {
      const index = loads.indexOf(findSmallest(loads));
      loads[index] = (loads[index] ?? 0) + weight;
      return [key, index + 1];
    }),
  );
}
