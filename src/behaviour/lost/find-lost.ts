import { isAnswered } from '../../explore/answers.ts';
import type { Outcome } from '../../explore/exploration.ts';
import { findConfirmed, findEmptied, findSwapped, findUnknown } from './asked.ts';
import type { Contrasts } from './contrasts.ts';
import { findAffected, findCounted, findEdge, findReversed } from './counted.ts';
import {
  findDoubled,
  findDropped,
  findLeft,
  findMissing,
  findRemaining,
  findRepeated,
  findTaken,
  findUndone,
} from './made.ts';
import { findMiscounted, findMiscountedLines } from './miscounted.ts';
import type { Evidence, LostEffect, SeenStep } from './seen.ts';
import { findDefault, findIgnored, findInverted, findMistaken, findOther, findOverlooked } from './selected.ts';

/**
 * Finds an effect that the last answer of the base shows and that of the change does not: of a call that made or removed something, or of
 * the arguments of a call. The session proves it, with the answers of both sides to sessions that leave a call or an argument out. An
 * answer in another format, or that depends on the session in another way, is no lost effect.
 */
export function findLost(seen: readonly SeenStep[], contrasts: Contrasts): LostEffect | null {
  const last = seen.at(-1);
  if (last === undefined || !isAnswered({ outcome: last.head })) return null;
  const evidence = { seen, last, contrasts };
  const isOfBase = (outcome: Outcome) => isAnswered({ outcome });
  if (last.bases.every(isOfBase)) return findFirst(finders, evidence);
  return last.bases.some(isOfBase) ? null : findFirst(findersOfRefused, evidence);
}

type Finder = (evidence: Evidence) => LostEffect | null;

function findFirst(all: readonly Finder[], evidence: Evidence): LostEffect | null {
  for (const find of all) {
    const found = find(evidence);
    if (found !== null) return found;
  }
  return null;
}

const finders: readonly Finder[] = [
  findMissing,
  findDropped,
  findRemaining,
  findRepeated,
  findDoubled,
  findLeft,
  findTaken,
  findSwapped,
  findEmptied,
  findUnknown,
  findIgnored,
  findDefault,
  findInverted,
  findCounted,
  findEdge,
  findMiscounted,
  findMiscountedLines,
  findAffected,
  findReversed,
  findOther,
];

/** Where the base refuses what the change answers. */
const findersOfRefused: readonly Finder[] = [findUndone, findConfirmed, findMistaken, findOverlooked];
