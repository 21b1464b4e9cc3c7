import { isAnswered } from '../../explore/answers.ts';
import { findConfirmed, findEmptied, findSwapped, findUnknown } from './asked.ts';
import type { Contrasts } from './contrasts.ts';
import { findDoubled, findLeft, findMissing, findRemaining, findRepeated, findTaken, findUndone } from './made.ts';
import type { LostEffect, SeenStep } from './seen.ts';
import {
  findCounted,
  findIgnored,
  findInverted,
  findMiscounted,
  findAffected,
  findMistaken,
  findOther,
  findReversed,
} from './selected.ts';

/**
 * Finds an effect that the last answer of the base shows and that of the change does not: of a call that made or removed something, or of
 * the arguments of a call. The session proves it, with the answers of both sides to sessions that leave a call or an argument out. An
 * answer in another format, or that depends on the session in another way, is no lost effect.
 */
export function findLost(seen: readonly SeenStep[], contrasts: Contrasts): LostEffect | null {
  const last = seen.at(-1);
  if (last === undefined || !isAnswered({ outcome: last.head })) return null;
  if (!last.bases.some((outcome) => isAnswered({ outcome }))) {
    return findUndone(seen, last) ?? findConfirmed(last) ?? findMistaken(last, contrasts);
  }
  if (!last.bases.every((outcome) => isAnswered({ outcome }))) return null;
  for (const find of finders) {
    const found = find(seen, last, contrasts);
    if (found !== null) return found;
  }
  return null;
}

type Finder = (seen: readonly SeenStep[], last: SeenStep, contrasts: Contrasts) => LostEffect | null;

const finders: readonly Finder[] = [
  findMissing,
  findRemaining,
  findRepeated,
  findDoubled,
  findLeft,
  findTaken,
  findSwapped,
  findEmptied,
  findUnknown,
  findIgnored,
  findInverted,
  findCounted,
  findMiscounted,
  findAffected,
  findReversed,
  findOther,
];
