// Draws the part of the corpus that a shorter run measures.
import { createHash } from 'node:crypto';
import { type Change, hashPatch } from './corpus.ts';

/** Draws `<bugs>,<sound changes>`, of each server in turn. A new change moves few others out of the sample. */
export function drawSample(changes: ReadonlyMap<string, readonly Change[]>, wanted: string, seed: number): Set<Change> {
  const [bugs = 0, sound = 0] = wanted.split(',').map(Number);
  const draw = (isWanted: (change: Change) => boolean, count: number) =>
    [...changes.values()]
      .flatMap((own) =>
        own
          .filter(isWanted)
          .map((change) => ({ change, rank: rankChange(change, seed) }))
          .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
          .map((each, turn) => ({ ...each, turn })),
      )
      .toSorted((a, b) => a.turn - b.turn || (a.rank < b.rank ? -1 : 1))
      .slice(0, count)
      .map(({ change }) => change);
  return new Set([...draw(({ kind }) => kind === 'bug', bugs), ...draw(({ kind }) => kind !== 'bug', sound)]);
}

function rankChange(change: Change, seed: number): string {
  return createHash('sha256')
    .update(`${seed} ${hashPatch(change)}`)
    .digest('hex');
}
