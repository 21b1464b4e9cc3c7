import { isRecord } from '../../base/json.ts';
import { formatCount } from '../../base/text.ts';
import { isAnswered, isRefused } from '../../explore/answers.ts';
import { unknownValues } from '../../explore/vocabulary/typical-values.ts';
import type { Outcome } from '../../explore/exploration.ts';
import { printMasked } from '../../explore/stability/texts.ts';
import {
  type Contrast,
  type Contrasts,
  leaveArgumentsOut,
  type LessArgument,
  listOtherCalls,
  listOtherValues,
  writeSession,
} from './contrasts.ts';
import { listPairs, listRecords } from './pairs.ts';
import {
  holds,
  type Evidence,
  type LostEffect,
  listParts,
  listPartsOnce,
  quote,
  readGiven,
  readResult,
  type SeenStep,
  squash,
} from './seen.ts';

/** Finds an argument without which the base answers otherwise, and the change does not. */
export function findIgnored({ seen, last, contrasts }: Evidence): LostEffect | null {
  const answer = printMasked(last.head);
  if (last.bases.some((base) => printMasked(base) === answer)) return null;
  for (const { tool, name, without } of listWithout(seen, contrasts)) {
    if (printMasked(without.head) !== answer || printMasked(without.base) !== answer) continue;
    return { what: `${name} of ${tool} has no effect any more`, isShownBy: () => false };
  }
  return null;
}

/** Finds an argument that selects what the base leaves out, and leaves out what the base selects. A number takes the first ones of any order. */
export function findInverted({ seen, last, contrasts }: Evidence): LostEffect | null {
  const head = new Set(listParts(last.head));
  for (const { tool, name, value, without } of listWithout(seen, contrasts)) {
    if (typeof value === 'number' || printMasked(without.base) !== printMasked(without.head)) continue;
    const all = listParts(without.base);
    const isInverted = last.bases.every((outcome) => {
      const base = new Set(listParts(outcome));
      const isSwapped = hasOthers(base, head) && hasOthers(head, base);
      return isSwapped && isUnion(all, base, head);
    });
    if (!isInverted) continue;
    return { what: `${name} of ${tool} selects what it should leave out`, isShownBy: () => false };
  }
  return null;
}

const hasOthers = (parts: ReadonlySet<string>, known: ReadonlySet<string>) =>
  [...parts].some((part) => !known.has(part));

function isUnion(all: readonly string[], left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  const known = new Set(all);
  return all.every((part) => left.has(part) || right.has(part)) && ![left, right].some((own) => hasOthers(own, known));
}

/** Finds a number that is how many lines or items the base has of more, and that the change does not keep to. */
export function findCounted({ seen, last, contrasts }: Evidence): LostEffect | null {
  const { request } = last.request;
  if (request.kind !== 'tool') return null;
  const session = seen.map((step) => step.request.request);
  const head = listPartsOnce(last.head);
  for (const [name, count] of Object.entries(request.arguments)) {
    if (typeof count !== 'number' || head.length === count) continue;
    const isKept = last.bases.every((base) => listPartsOnce(base).length === count);
    if (!isKept || !listOtherValues(contrasts, session, name).some((more) => isPartOf(last, more))) continue;
    const what = `${name} of ${request.tool} asks for ${count}, and the answer has ${head.length}`;
    return { what, isShownBy: () => false };
  }
  return null;
}

/** Checks if another answer, which is the same on both sides, has all lines and items of an answer, and more. */
function isPartOf({ bases, head }: SeenStep, more: Contrast): boolean {
  if (!isAnswered({ outcome: more.base }) || printMasked(more.base) !== printMasked(more.head)) return false;
  const parts = listPartsOnce(more.base);
  const all = new Set(parts);
  return [...bases, head].every((outcome) => {
    const own = listPartsOnce(outcome);
    return own.length < parts.length && own.every((part) => all.has(part));
  });
}

/** Finds a value that a number, such as a limit, does not change on the base and in its default, and changes now. */
export function findAffected({ seen, last, contrasts }: Evidence): LostEffect | null {
  for (const { tool, name, value, without } of listWithout(seen, contrasts)) {
    if (typeof value !== 'number') continue;
    const alone: SeenStep = { request: last.request, bases: [without.base], head: without.head };
    const kept = listPairs(alone).filter(({ base, head }) => isScalar(base) && base === head);
    const found = listPairs(last).find(({ name: member, base, head }) => {
      const others = kept.filter((pair) => pair.name === member);
      return isScalar(head) && head !== base && others.length > 0 && others.every((pair) => pair.base === base);
    });
    if (found === undefined) continue;
    const { name: member, base, head } = found;
    const what = `${member} is ${String(head)} with ${name} of ${tool}, which does not change it on the base`;
    return { what, isShownBy: (shown) => shown === base };
  }
  return null;
}

const isScalar = (value: unknown): value is number | boolean => typeof value === 'number' || typeof value === 'boolean';

/** Finds a number that is no longer that of the items of a list, as it is in all answers of the base, also where these are others. */
export function findMiscounted({ last, contrasts }: Evidence): LostEffect | null {
  const others = listOtherCalls(contrasts, last.request).flatMap(({ base }) => [...listRecords(readResult(base))]);
  for (const { base, head } of listPairs(last)) {
    if (!isRecord(base) || !isRecord(head)) continue;
    for (const [name, list] of Object.entries(head)) {
      const before = base[name];
      if (!Array.isArray(list) || !Array.isArray(before)) continue;
      const found = Object.entries(head).find(
        ([key, count]) =>
          typeof count === 'number' &&
          count !== list.length &&
          base[key] === before.length &&
          isCounting(others, { key, name, than: before.length }),
      );
      if (found === undefined) continue;
      const [key, count] = found;
      const what = `${key} is ${String(count)}, and ${name} has ${formatCount(list.length, 'item')}`;
      return { what, isShownBy: (value) => value === base[key] };
    }
  }
  return null;
}

/** Checks if a member of objects is always the length of a list in them, also of one that is longer or shorter. */
function isCounting(
  records: ReadonlyArray<Record<string, unknown>>,
  { key, name, than }: { key: string; name: string; than: number },
): boolean {
  const counted = records.flatMap((record) => {
    const list = record[name];
    return Array.isArray(list) && typeof record[key] === 'number' ? [{ count: record[key], length: list.length }] : [];
  });
  return counted.every(({ count, length }) => count === length) && counted.some(({ length }) => length !== than);
}

/** Finds lines or items that the base has in the order that an argument asks for, and the change the other way round. */
export function findReversed({ seen, last, contrasts }: Evidence): LostEffect | null {
  const head = listPartsOnce(last.head);
  for (const { tool, name, without } of listWithout(seen, contrasts)) {
    const isSorting = (base: Outcome) => {
      const [sorted, unsorted] = [listPartsOnce(base), listPartsOnce(without.base)];
      return isReordered(sorted, unsorted) && isReordered(sorted, head) && isMostlyReversed(sorted, head);
    };
    if (!last.bases.every(isSorting)) continue;
    return { what: `the order that ${name} of ${tool} asks for is reversed`, isShownBy: () => false };
  }
  return null;
}

/** Checks if two lists have the same parts, each once, in another order. */
function isReordered(left: readonly string[], right: readonly string[]): boolean {
  const own = new Set(left);
  const isSame = left.length === right.length && own.size === left.length && right.every((part) => own.has(part));
  return isSame && left.some((part, index) => part !== right[index]);
}

/** Checks if most pairs of parts that moved stand the other way round. Parts that are equal for a sort may change places. */
function isMostlyReversed(left: readonly string[], right: readonly string[]): boolean {
  const places = left.flatMap((part, index) => (part === right[index] ? [] : [right.indexOf(part)]));
  if (places.length < 3) return false;
  const reversed = places.flatMap((place, index) => places.slice(index + 1).filter((later) => later < place));
  return reversed.length > (places.length * (places.length - 1)) / 4;
}

/** Finds an answer with what the base answers to another call, and nothing of what it has there for the text that was asked for. */
export function findOther({ last, contrasts }: Evidence): LostEffect | null {
  const head = listParts(last.head);
  const [base = [], ...others] = last.bases.map(listParts);
  const known = new Set(listOtherCalls(contrasts, last.request).flatMap((other) => listParts(other.base)));
  const other = head.find((part) => known.has(part) && !base.includes(part));
  for (const text of readGiven(last)?.texts.keys() ?? []) {
    const own = base.filter((part) => squash(part).includes(text));
    const [first] = own;
    const isKept = own.some((part) => head.includes(part) || others.some((parts) => !parts.includes(part)));
    if (first === undefined || other === undefined || isKept) continue;
    const what = `it has ${quote(other)}, as the answer to another call, and not ${quote(first)}`;
    return { what, isShownBy: (value) => holds(value, squash(first)) };
  }
  return null;
}

/** Finds that a call for something that no server knows, which the base refuses, has what the base answers to another call. */
export function findMistaken({ last, contrasts }: Evidence): LostEffect | null {
  if (!last.bases.every((outcome) => isRefused({ outcome }))) return null;
  const known = new Set(listOtherCalls(contrasts, last.request).flatMap((other) => listParts(other.base)));
  const texts = [...(readGiven(last)?.texts ?? [])];
  const unknown = texts.find(([text, given]) => given.includes(unknownValues.text) && !holds(last.head, text));
  const other = listParts(last.head).find((part) => known.has(part));
  if (unknown === undefined || other === undefined) return null;
  return { what: `it has ${quote(other)}, although nothing is ${quote(unknown[1])}`, isShownBy: () => false };
}

interface Without extends LessArgument {
  without: Contrast;
}

/** Lists the optional arguments of a session, with the answers to it without them. */
function listWithout(seen: readonly SeenStep[], contrasts: Contrasts): Without[] {
  return leaveArgumentsOut(seen.map(({ request }) => request)).flatMap((less) => {
    const without = contrasts.get(writeSession(less.session));
    return without === undefined ? [] : [{ ...less, without }];
  });
}
