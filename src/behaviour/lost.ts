import { isAnswered } from '../explore/answers.ts';
import { listTexts } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import { nameRequest, type Outcome } from '../explore/exploration.ts';
import { printMasked } from '../explore/stability/texts.ts';
import type { ComparedRequest } from './bench.ts';

/** A step of a session with the outcomes of all runs of the base, and of one run of the change. */
export interface SeenStep {
  request: ComparedRequest;
  bases: readonly Outcome[];
  head: Outcome;
}

/** The answers of both sides to requests in new worlds, by `writeAlone`: without the calls that a session makes before. */
export type AnswersAlone = ReadonlyMap<string, { base: Outcome; head: Outcome }>;

/** An effect of an earlier call that the last request of the base shows, and that of the change does not. */
export interface LostEffect {
  what: string;
  /** Checks if a value of the base shows it. */
  isShownBy: (value: unknown) => boolean;
}

/** Writes the key of a request that was sent alone; null if it needs a result of an earlier one. */
export function writeAlone({ request }: ComparedRequest): string | null {
  const text = JSON.stringify(request);
  return text.includes('{{result.') ? null : text;
}

/**
 * Finds an effect that the session itself proves: the base finds a text that an earlier call was given, and the change answers as if that
 * call had not been made, or finds the texts of another call only; or the base no longer finds what a call removed, or refuses the request
 * after it, and the change answers as before that call. An answer in another format that has the text, or that depends on the call in
 * another way, is no lost effect.
 */
export function findLost(seen: readonly SeenStep[], alone: AnswersAlone): LostEffect | null {
  const last = seen.at(-1);
  if (last === undefined || !isAnswered({ outcome: last.head })) return null;
  if (!last.bases.some((outcome) => isAnswered({ outcome }))) return findUndone(seen, last);
  if (!last.bases.every((outcome) => isAnswered({ outcome }))) return null;
  return findMissing(seen, last, alone) ?? findRemaining(seen, last);
}

/** The texts that one call was given, by their squashed form. */
interface Given {
  tool: string;
  texts: ReadonlyMap<string, string>;
}

function findMissing(seen: readonly SeenStep[], last: SeenStep, alone: AnswersAlone): LostEffect | null {
  const all = listGiven(seen.slice(0, -1));
  const count = (key: string) => all.filter(({ texts }) => texts.has(key)).length;
  const key = writeAlone(last.request);
  const without = key === null ? undefined : alone.get(key);
  // An answer can repeat the text of its own request.
  const fixed = without !== undefined && isAnswered({ outcome: without.base }) ? without.base : null;
  const isFixed = (text: string) =>
    fixed !== null && last.bases.some((base) => countOf(base, text) <= countOf(fixed, text));
  const isAsWithout = without !== undefined && printMasked(without.head) === printMasked(last.head);
  const isFoundByHead = (text: string) => holds(last.head, shorten(text));
  for (const { tool, texts } of all) {
    const own = [...texts.keys()].filter((text) => last.bases.every((base) => holds(base, text)));
    const proofs = own.filter((text) => !isFixed(text) && (isAsWithout || count(text) === 1));
    const [proof] = proofs;
    if (proof === undefined) continue;
    const isOtherFound = () =>
      all.some((other) =>
        [...other.texts.keys()].some((text) => !texts.has(text) && !isFixed(text) && isFoundByHead(text)),
      );
    if (!isAsWithout && (own.some(isFoundByHead) || !isOtherFound())) continue;
    return {
      what: `it no longer finds ${quote(texts.get(proof) ?? proof)}, which ${tool} was given before`,
      isShownBy: (value) => proofs.some((text) => holds(value, text)),
    };
  }
  return null;
}

function findRemaining(seen: readonly SeenStep[], last: SeenStep): LostEffect | null {
  const key = writeAlone(last.request);
  if (key === null) return null;
  for (const [index, earlier] of seen.entries()) {
    if (earlier === last || writeAlone(earlier.request) !== key) continue;
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

/** Finds a call after which the base refuses what it answered before, and the change answers as before. */
function findUndone(seen: readonly SeenStep[], last: SeenStep): LostEffect | null {
  const own = JSON.stringify(last.request.request);
  const before = seen.findLastIndex(
    (step) =>
      step !== last &&
      JSON.stringify(step.request.request) === own &&
      step.bases.every((outcome) => isAnswered({ outcome })) &&
      printMasked(step.head) === printMasked(last.head),
  );
  const between = before === -1 ? undefined : seen.slice(before + 1, -1).findLast(isMaking);
  if (between === undefined) return null;
  const what = `it still answers after ${nameRequest(between.request.request)}, as if that had done nothing`;
  return { what, isShownBy: () => false };
}

/** Checks if a step may change something, and was answered on both sides. */
function isMaking({ request, bases, head }: SeenStep): boolean {
  return request.mayMake && [...bases, head].every((outcome) => isAnswered({ outcome }));
}

function listGiven(seen: readonly SeenStep[]): Given[] {
  return seen.filter(isMaking).flatMap(({ request: { request } }) => {
    if (request.kind !== 'tool') return [];
    const texts = [...listTexts(request.arguments)]
      .filter(({ text }) => !text.includes('{{'))
      .map(({ text }): [string, string] => [squash(text), text])
      .filter(([text]) => text.length >= shortestText);
    return [{ tool: request.tool, texts: new Map(texts) }];
  });
}

/** A shorter text stands in many answers by chance. */
const shortestText = 3;

/** Leaves the letters and digits of a text, so that another layout, escape or case of it is the same. */
function squash(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Long texts are often cut in answers. */
function shorten(text: string): string {
  return text.slice(0, Math.max(12, Math.ceil(text.length / 2)));
}

/** Checks if a squashed text is a part of any text in a value. */
function holds(value: unknown, text: string): boolean {
  return countOf(value, text) > 0;
}

function countOf(value: unknown, text: string): number {
  return [...listTexts(value)].reduce((sum, each) => sum + squash(each.text).split(text).length - 1, 0);
}

const longestQuote = 60;

function quote(text: string): string {
  const whole = JSON.stringify(text);
  return whole.length <= longestQuote ? whole : `a text of ${formatCount(text.length, 'character')}`;
}
