import { isJsonEqual } from '../../base/json.ts';
import { isRefused } from '../../explore/answers.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import { printMasked, readOutcomeText } from '../../explore/stability/texts.ts';
import { unknownValues } from '../../explore/vocabulary/typical-values.ts';
import { listOtherCalls, listWithDefault, listWithout } from './contrasts.ts';
import { type Evidence, holds, listParts, type LostEffect, quote, readGiven, type SeenStep, squash } from './seen.ts';

/** Finds an argument without which the base answers otherwise, and the change does not. */
export function findIgnored({ seen, last, contrasts }: Evidence): LostEffect | null {
  const answer = printMasked(last.head);
  if (last.bases.some((base) => printMasked(base) === answer)) return null;
  for (const { tool, name, without } of listWithout(contrasts, seen)) {
    if (printMasked(without.head) !== answer || printMasked(without.base) !== answer) continue;
    return { what: `${name} of ${tool} has no effect any more`, isShownBy: () => false };
  }
  return null;
}

/** Finds that a call without an argument is no longer answered as with its default, which both servers declare and answer alike. */
export function findDefault({ seen, last, contrasts }: Evidence): LostEffect | null {
  const { request } = last.request;
  if (request.kind !== 'tool') return null;
  const session = seen.map((step) => step.request.request);
  const found = listWithDefault(contrasts, session).find(({ base, head }) => {
    const answer = printMasked(base);
    const isOfBase = last.bases.every((own) => printMasked(own) === answer);
    return isOfBase && printMasked(head) === answer && printMasked(last.head) !== answer;
  });
  if (found === undefined) return null;
  const what = `without ${found.name}, ${request.tool} no longer answers as with its default ${JSON.stringify(found.value)}`;
  return { what, isShownBy: () => false };
}

/** Finds an argument that the base refuses together with another one, and without which both sides answer as the change does with it. */
export function findOverlooked({ seen, last, contrasts }: Evidence): LostEffect | null {
  const { request } = last.request;
  if (request.kind !== 'tool') return null;
  const answer = printMasked(last.head);
  const words = last.bases.map((base) => new Set(readOutcomeText(base).split(/[^\w-]+/)));
  const named = Object.keys(request.arguments).filter((name) => words.every((own) => own.has(name)));
  for (const { tool, name, without } of listWithout(contrasts, seen)) {
    if (named.length < 2 || !named.includes(name)) continue;
    if (printMasked(without.head) !== answer || printMasked(without.base) !== answer) continue;
    const others = named.filter((other) => other !== name).join(' and ');
    return { what: `${name} of ${tool} is ignored, which the base refuses with ${others}`, isShownBy: () => false };
  }
  return null;
}

/** Finds an argument that selects what the base leaves out, and leaves out what the base selects. A number takes the first ones of any order. */
export function findInverted({ seen, last, contrasts }: Evidence): LostEffect | null {
  const head = new Set(listParts(last.head));
  for (const { tool, name, value, without } of listWithout(contrasts, seen)) {
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

/** Finds an answer with what the base answers to another call, and nothing of what it has there for the text that was asked for. */
export function findOther({ last, contrasts }: Evidence): LostEffect | null {
  const head = listParts(last.head);
  const [base = [], ...others] = last.bases.map(listParts);
  // The same call with an option asks for the same thing: the change may have another default.
  const calls = listOtherCalls(contrasts, last.request).filter(({ session }) => !hasAllArguments(session, last));
  const known = new Set(calls.flatMap((other) => listParts(other.base)));
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

function hasAllArguments(session: readonly ExploredRequest[], { request: { request } }: SeenStep): boolean {
  const other = session.at(-1);
  if (request.kind !== 'tool' || other?.kind !== 'tool') return false;
  return Object.entries(request.arguments).every(([name, value]) => isJsonEqual(other.arguments[name], value));
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
