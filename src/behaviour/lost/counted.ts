import { isJsonEqual, isRecord } from '../../base/json.ts';
import { formatCount } from '../../base/text.ts';
import { isAnswered } from '../../explore/answers.ts';
import type { Outcome } from '../../explore/exploration.ts';
import { printMasked } from '../../explore/stability/texts.ts';
import { splitName } from '../../explore/vocabulary/names.ts';
import { type Contrast, listOtherCalls, listOtherValues, listWithout } from './contrasts.ts';
import { listPairs, listRecords } from './pairs.ts';
import { type Evidence, listPartsOnce, type LostEffect, readResult, type SeenStep } from './seen.ts';

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

/** How the names of tools and of numbers ask for the end of a longer answer, or for its start. */
const edges: ReadonlyArray<{ names: RegExp; of: string; take: (parts: readonly string[], count: number) => string[] }> =
  [
    { names: /\b(?:tail|last)\b/, of: 'last', take: (parts, count) => parts.slice(-count) },
    { names: /\b(?:head|first)\b/, of: 'first', take: (parts, count) => parts.slice(0, count) },
  ];

/** Finds lines or items that are no longer the last or the first ones of a longer answer, as the name of the call asks. */
export function findEdge({ last, contrasts }: Evidence): LostEffect | null {
  const { request } = last.request;
  if (request.kind !== 'tool') return null;
  const numbers = Object.entries(request.arguments).filter(([, value]) => typeof value === 'number');
  const asked = [request.tool, ...numbers.map(([name]) => name)].map((name) => splitName(name).join(' '));
  const own = listPartsOnce(last.head);
  const wholes = [...contrasts.values()].map(({ base }) => listPartsOnce(base));
  for (const { of, take } of edges.filter((edge) => asked.some((name) => edge.names.test(name)))) {
    const isEdge = (parts: readonly string[], whole: readonly string[]) =>
      parts.length > 0 && parts.length < whole.length && isJsonEqual(take(whole, parts.length), parts);
    const isLost = wholes.some(
      (whole) =>
        last.bases.every((base) => isEdge(listPartsOnce(base), whole)) &&
        !isEdge(own, whole) &&
        own.length > 0 &&
        own.length < whole.length &&
        own.every((part) => whole.includes(part)),
    );
    if (isLost)
      return { what: `the answer of ${request.tool} has not the ${of} lines or items`, isShownBy: () => false };
  }
  return null;
}

/** Finds a value that a number, such as a limit, does not change on the base and in its default, and changes now. */
export function findAffected({ seen, last, contrasts }: Evidence): LostEffect | null {
  for (const { tool, name, value, without } of listWithout(contrasts, seen)) {
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
  for (const { tool, name, without } of listWithout(contrasts, seen)) {
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
