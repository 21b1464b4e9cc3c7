import { isAnswered } from '../../explore/answers.ts';
import { isRecord } from '../../base/json.ts';
import { type Outcome } from '../../explore/exploration.ts';
import { nameRequest } from '../../model/explored-request.ts';
import { printMasked } from '../../explore/stability/texts.ts';
import type { ComparedRequest } from '../bench.ts';
import { type Contrast, type Contrasts, leaveCallsOut, writeSession } from './contrasts.ts';
import { listPairs } from './pairs.ts';
import {
  countOf,
  holds,
  isMaking,
  listGiven,
  listParts,
  type Evidence,
  type Given,
  type LostEffect,
  quote,
  readGiven,
  type SeenStep,
  shorten,
  squash,
} from './seen.ts';

/** Finds a text that an earlier call was given, where the change answers as if that call had not been made. */
export function findMissing({ seen, last, contrasts }: Evidence): LostEffect | null {
  const without = readWithoutCalls(seen, contrasts);
  if (without === undefined || printMasked(without.head) !== printMasked(last.head)) return null;
  for (const given of listGiven(seen.slice(0, -1))) {
    const proofs = listShown(given, { seen, last, contrasts });
    if (proofs.length > 0) return describeMissing(given, proofs);
  }
  return null;
}

/** Finds a text that one call was given alone, where the change has those of another call, or all else. */
export function findDropped({ seen, last, contrasts }: Evidence): LostEffect | null {
  const all = listGiven(seen.slice(0, -1));
  const isFoundByHead = (text: string) => holds(last.head, shorten(text));
  for (const given of all) {
    const isOfOthers = (text: string) => all.some((other) => other !== given && other.texts.has(text));
    const shown = listShown(given, { seen, last, contrasts });
    const proofs = shown.filter((text) => !isOfOthers(text));
    const own = [...given.texts.keys()].filter((text) => last.bases.every((base) => holds(base, text)));
    if (proofs.length === 0 || own.some(isFoundByHead)) continue;
    const isOtherFound = () =>
      all.some((other) =>
        listShown(other, { seen, last, contrasts }).some((text) => !given.texts.has(text) && isFoundByHead(text)),
      );
    const isOnlyDifference = () => isAllElseKept(last, proofs) && proofs.some((text) => /\p{L}{3}/u.test(text));
    if (isOtherFound() || isOnlyDifference()) return describeMissing(given, proofs);
  }
  return null;
}

/** Lists the texts of a call that the base shows because of it: an answer can repeat the text of its own request. */
function listShown({ texts }: Given, { seen, last, contrasts }: Evidence): string[] {
  const without = readWithoutCalls(seen, contrasts);
  const fixed = without !== undefined && isAnswered({ outcome: without.base }) ? without.base : null;
  return [...texts.keys()].filter((text) =>
    last.bases.every((base) => holds(base, text) && (fixed === null || countOf(base, text) > countOf(fixed, text))),
  );
}

function describeMissing({ tool, texts }: Given, proofs: readonly string[]): LostEffect {
  const [proof = ''] = proofs;
  return {
    what: `it no longer finds ${quote(texts.get(proof) ?? proof)}, which ${tool} was given before`,
    isShownBy: (value) => proofs.some((text) => holds(value, text)),
  };
}

/**
 * Checks if an answer of the change has all lines and items of the base but those with these texts, and at least one that was not asked
 * for. So its format is the same.
 */
function isAllElseKept(last: SeenStep, texts: readonly string[]): boolean {
  const kept = new Set(listParts(last.head));
  const asked = [...(readGiven(last)?.texts.keys() ?? [])];
  const hasOne = (part: string, of: readonly string[]) => of.some((text) => squash(part).includes(text));
  return last.bases.every((base) => {
    const others = listParts(base).filter((part) => !hasOne(part, texts));
    return others.every((part) => kept.has(part)) && others.some((part) => !hasOne(part, asked));
  });
}

/** Finds an answer that is the same before and after a call that removes something. */
export function findRemaining({ seen, last }: Evidence): LostEffect | null {
  const key = writeOwn(last.request);
  for (const [index, earlier] of seen.entries()) {
    if (earlier === last || writeOwn(earlier.request) !== key) continue;
    if (printMasked(earlier.head) !== printMasked(last.head)) continue;
    const between = seen.slice(index + 1, -1).findLast(isMaking);
    if (between === undefined) continue;
    const texts = new Map(listGiven(seen.slice(0, index)).flatMap((given) => [...given.texts]));
    for (const [text, written] of texts) {
      const isRemoved = (base: Outcome, at: number) => {
        const before = earlier.bases[at];
        return before !== undefined && holds(before, text) && !holds(base, text);
      };
      if (!holds(last.head, text) || !last.bases.every(isRemoved)) continue;
      const what = `it still finds ${quote(written)} after ${nameRequest(between.request.request)}, as if that had done nothing`;
      return { what, isShownBy: () => false };
    }
  }
  return null;
}

/** Finds a call that comes again with no further effect on the base, and with one on the change. */
export function findRepeated({ seen, last }: Evidence): LostEffect | null {
  const index = seen.findLastIndex((step) => step !== last && writeOwn(step.request) === writeOwn(last.request));
  const earlier = seen[index];
  if (earlier === undefined || printMasked(earlier.head) === printMasked(last.head)) return null;
  const isKept = last.bases.every((base, at) => {
    const before = earlier.bases[at];
    return before !== undefined && printMasked(before) === printMasked(base);
  });
  const known = new Set(seen.slice(0, index).map(({ request }) => writeOwn(request)));
  const between = seen.slice(index + 1, -1).filter(isMaking);
  const [again] = between;
  if (!isKept || again === undefined || !between.every(({ request }) => known.has(writeOwn(request)))) return null;
  const what = `the same call of ${nameRequest(again.request.request)} changes it again`;
  return { what, isShownBy: () => false };
}

/** Finds a list in which two items have the same text, which a call was given, where the texts of all items differ on the base. */
export function findDoubled({ seen, last }: Evidence): LostEffect | null {
  const given = new Set(listGiven(seen).flatMap(({ texts }) => [...texts.values()]));
  for (const { name, base, head } of listPairs(last)) {
    if (!Array.isArray(base) || !base.every(isRecord) || !Array.isArray(head) || !head.every(isRecord)) continue;
    for (const key of Object.keys(base[0] ?? {})) {
      const [before, after] = [base, head].map((items) => items.map((item) => item[key]));
      if (before === undefined || after === undefined || new Set(before).size < before.length) continue;
      const doubled = after.find((value, index) => after.indexOf(value) < index);
      if (typeof doubled !== 'string' || !before.includes(doubled) || !given.has(doubled)) continue;
      const what = `${name} has two items whose ${key} is ${quote(doubled)}`;
      return { what, isShownBy: (value) => value === base };
    }
  }
  return null;
}

/** Finds a call after which the base refuses what it answered before, and the change answers as before. */
export function findUndone({ seen, last }: Evidence): LostEffect | null {
  const own = writeOwn(last.request);
  const before = seen.findLastIndex(
    (step) =>
      step !== last &&
      writeOwn(step.request) === own &&
      step.bases.every((outcome) => isAnswered({ outcome })) &&
      printMasked(step.head) === printMasked(last.head),
  );
  const between = before === -1 ? undefined : seen.slice(before + 1, -1).findLast(isMaking);
  if (between === undefined) return null;
  const what = `it still answers after ${nameRequest(between.request.request)}, as if that had done nothing`;
  return { what, isShownBy: () => false };
}

/** Finds a text that a call was given, and that the base no longer has after it, in a line or an item that the change has without the call, too. */
export function findLeft({ seen, last, contrasts }: Evidence): LostEffect | null {
  const without = readWithoutCalls(seen, contrasts);
  if (without === undefined || !areAnswered(without)) return null;
  const before = new Set(listParts(without.head));
  const after = listParts(last.head);
  const asked = readGiven(last)?.texts;
  for (const { tool, texts } of listGiven(seen.slice(0, -1))) {
    for (const [text, written] of texts) {
      const parts = after.filter((part) => squash(part).includes(text));
      const isRemoved = holds(without.base, text) && !last.bases.some((base) => holds(base, text));
      if (!isRemoved || parts.length === 0 || asked?.has(text) === true || !parts.every((part) => before.has(part)))
        continue;
      return { what: `it still has ${quote(written)}, which ${tool} was given before`, isShownBy: () => false };
    }
  }
  return null;
}

/**
 * Finds a line or an item that no call names, and that is there before and after the calls on the base, and before them only on the change.
 * Where the change has another one in its place, it may follow another rule.
 */
export function findTaken({ seen, last, contrasts }: Evidence): LostEffect | null {
  const without = readWithoutCalls(seen, contrasts);
  const given = listGiven(seen.slice(0, -1));
  const maker = given.at(-1);
  if (without === undefined || !areAnswered(without) || maker === undefined) return null;
  const head = listParts(last.head);
  const bases = last.bases.map(listParts);
  const before = [without.base, without.head].map(listParts);
  const isNamed = (text: string) =>
    given.some(({ texts }) => [...texts.keys()].some((own) => text.includes(own) || own.includes(text)));
  const taken = bases[0]?.find(
    (part) =>
      [...bases, ...before].every((parts) => parts.includes(part)) &&
      !isNamed(squash(part)) &&
      !holds(last.head, squash(part)),
  );
  if (taken === undefined || bases.some(({ length }) => length <= head.length)) return null;
  return {
    what: `after ${maker.tool}, it no longer has ${quote(taken)}, which no call names`,
    isShownBy: (value) => holds(value, squash(taken)),
  };
}

/** Reads the answers of both sides to the last request without the calls before it. */
function readWithoutCalls(seen: readonly SeenStep[], contrasts: Contrasts): Contrast | undefined {
  const session = leaveCallsOut(seen.map(({ request }) => request));
  return session === null ? undefined : contrasts.get(writeSession(session));
}

const areAnswered = ({ base, head }: Contrast) => [base, head].every((outcome) => isAnswered({ outcome }));

const writeOwn = ({ request }: ComparedRequest) => JSON.stringify(request);
