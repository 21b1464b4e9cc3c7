import { isRecord, listTexts } from '../../base/json.ts';
import { formatCount } from '../../base/text.ts';
import { isRefused } from '../../explore/answers.ts';
import { readVerb } from '../../explore/vocabulary/names.ts';
import { unknownValues } from '../../explore/vocabulary/typical-values.ts';
import { listPairs } from './pairs.ts';
import { holds, isMaking, type Evidence, type LostEffect, quote, readGiven, squash } from './seen.ts';

/** Finds a member that has the value of another argument than that of its name, which it has on the base. */
export function findSwapped({ seen, last }: Evidence): LostEffect | null {
  for (const step of seen.filter((each) => each === last || isMaking(each))) {
    const { request } = step.request;
    if (request.kind !== 'tool') continue;
    const named = listNamed(request.arguments);
    for (const { name, base, head } of listPairs(last)) {
      if (typeof base !== 'string' || typeof head !== 'string' || squash(base) === squash(head)) continue;
      const isGiven = named.some((each) => each.name === name && each.text === base);
      const other = named.find((each) => each.name !== name && each.text === head);
      if (!isGiven || other === undefined) continue;
      const what = `${name} is ${quote(head)}, which ${request.tool} was given as ${other.name}`;
      return { what, isShownBy: (value) => value === base };
    }
  }
  return null;
}

function listNamed(args: object): Array<{ name: string; text: string }> {
  return [...listTexts(args)].flatMap(({ text, path }) => {
    const name = path.at(-1);
    return typeof name === 'string' ? [{ name, text }] : [];
  });
}

/** Finds a list or an object that has what the call was given on the base, and is empty now. */
export function findEmptied({ last }: Evidence): LostEffect | null {
  const texts = [...(readGiven(last)?.texts ?? [])];
  for (const { name, base, head } of listPairs(last)) {
    if (!isFilled(base) || !isEmpty(head)) continue;
    const found = texts.find(([text]) => holds(base, text));
    if (found !== undefined) {
      return {
        what: `${name} is empty, and should have ${quote(found[1])}`,
        isShownBy: (value) => value === base,
      };
    }
  }
  return null;
}

/** Finds that a call for something that no server knows gets something else, where the base answers with nothing. */
export function findUnknown({ last }: Evidence): LostEffect | null {
  const texts = [...(readGiven(last)?.texts ?? [])];
  const unknown = texts.find(([, text]) => text.includes(unknownValues.text));
  if (unknown === undefined) return null;
  for (const { name, base, head } of listPairs(last)) {
    if (!isEmpty(base) || !isFilled(head) || texts.some(([text]) => holds(head, text))) continue;
    const found = Array.isArray(head) ? formatCount(head.length, 'item') : 'something';
    return { what: `${name} has ${found} for ${quote(unknown[1])}`, isShownBy: (value) => value === base };
  }
  return null;
}

/** Finds that a change of something that no server knows is confirmed, where the base refuses it. To remove it may be no error. */
export function findConfirmed({ last }: Evidence): LostEffect | null {
  const { request, mayMake } = last.request;
  if (request.kind !== 'tool' || !mayMake || readVerb(request.tool) === 'remove') return null;
  if (!last.bases.every((outcome) => isRefused({ outcome }))) return null;
  const texts = [...(readGiven(last)?.texts ?? [])];
  const unknown = texts.find(([text, given]) => given.includes(unknownValues.text) && !holds(last.head, text));
  if (unknown === undefined) return null;
  return { what: `it is confirmed, although nothing is ${quote(unknown[1])}`, isShownBy: () => false };
}

const isFilled = (value: unknown) =>
  Array.isArray(value) ? value.length > 0 : isRecord(value) && Object.keys(value).length > 0;

const isEmpty = (value: unknown) =>
  value === null || (Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0);
