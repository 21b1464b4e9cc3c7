import { isJsonEqual } from '../../base/json.ts';
import { isAnswered } from '../../explore/answers.ts';
import type { Outcome } from '../../explore/exploration.ts';
import { printMasked, readResultTexts } from '../../explore/stability/texts.ts';
import { splitName } from '../../explore/vocabulary/names.ts';
import { type Contrast, listOtherValues, listWithout } from './contrasts.ts';
import { listPairs } from './pairs.ts';
import { type Evidence, listPartsOnce, type LostEffect, openDocument, type SeenStep } from './seen.ts';

/** The ways to count what an answer has: its lines and items, or the lines of a text as a program splits it, the last of which may be empty. */
const counts: ReadonlyArray<(outcome: Outcome) => number | undefined> = [
  (outcome) => listPartsOnce(outcome).length,
  (outcome) => {
    const [text = '', ...others] = outcome.kind === 'result' ? readResultTexts(outcome.result) : [];
    return others.length === 0 && typeof openDocument(text) === 'string' ? text.split('\n').length : undefined;
  },
];

/** Finds a number that is how many lines or items the base has of more, and that the change does not keep to. */
export function findCounted({ seen, last, contrasts }: Evidence): LostEffect | null {
  const { request } = last.request;
  if (request.kind !== 'tool') return null;
  const session = seen.map((step) => step.request.request);
  for (const [name, asked] of Object.entries(request.arguments)) {
    if (typeof asked !== 'number') continue;
    const isKept = (count: (outcome: Outcome) => number | undefined) =>
      last.bases.every((base) => count(base) === asked);
    // A text that counts as both has as many lines as it was asked for.
    const own = counts.filter(isKept).map((count) => count(last.head));
    const [found] = own;
    if (found === undefined || own.includes(asked)) continue;
    if (!listOtherValues(contrasts, session, name).some((more) => isPartOf(last, more))) continue;
    const what = `${name} of ${request.tool} asks for ${asked}, and the answer has ${found}`;
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
