import { escapePointerToken } from '../../base/json-pointer.ts';
import { isRecord, type JsonObject, listRecords, listTexts, tryParseJson } from '../../base/json.ts';
import { repeatsContent } from '../stability/texts.ts';
import { writeReference } from '../world/placeholders.ts';
import { hasVolatileForm } from '../stability/forms.ts';
import { findIdentifiers } from './identifiers.ts';
import { rateSimilarity, readThing, splitName } from './names.ts';

/** A value that a server returned, or accepted, under a name. */
export interface LearnedValue {
  /** The words of its name, with those of its owner: `entity name`. */
  words: readonly string[];
  /** The value, or a reference to it if it reads as one that differs each time. */
  value: string | number;
}

const maxValues = 200;
const longestText = 200;

/** Where a value comes from. */
interface Origin {
  /** The number of the step in the session, for references to values that may differ each time; null for arguments. */
  step: number | null;
  /** The texts of the request. What an answer repeats of them needs no reference. */
  given: ReadonlySet<string>;
}

/** Collects the named values in the result of a call. */
export function learnFromResult(
  result: JsonObject,
  { tool, args, step }: { tool: string; args: JsonObject; step: number },
): LearnedValue[] {
  const origin: Origin = { step, given: new Set([...listTexts(args)].map(({ text }) => text)) };
  const { structuredContent, content } = result;
  const about = readThing(tool);
  if (isRecord(structuredContent) && !repeatsContent(result))
    return walk(structuredContent, { words: about, pointer: '/structuredContent', origin });
  const blocks = listRecords(content);
  return blocks.flatMap((block, index) => {
    if (typeof block['uri'] === 'string') return [{ words: ['uri'], value: block['uri'] }];
    if (typeof block['text'] !== 'string') return [];
    const document = tryParseJson(block['text']);
    const path = `/content/${index}/text`;
    if (typeof document === 'object') return walk(document, { words: about, pointer: path, origin });
    return findIdentifiers(block['text'])
      .filter(({ value }) => !origin.given.has(String(value)))
      .map(({ value, words, pattern }) => ({
        words: dropRepeats([...about, ...words]),
        value: typeof value === 'number' ? value : writeReference({ step, capture: { path, matches: pattern } }),
      }));
  });
}

/** Collects the named values in the arguments of a call, which are known words whatever the result is. */
export function learnFromArguments(args: JsonObject, tool: string): LearnedValue[] {
  return walk(args, { words: readThing(tool), pointer: '', origin: { step: null, given: new Set() } });
}

/** A name with a number or a text in quotes: `"limit": 3`, `city="Rome"`. */
const namedValue = /\b([A-Za-z][\w-]{1,40})["'`]?\s*[:=]\s*(?:(["'`])([^"'`\n]{1,200})\2|(\d{1,9})\b)/g;

/** Collects the values that a text gives names, such as the example of a call in a prompt. Those that read as a time or an id are left out. */
export function learnFromText(text: string): LearnedValue[] {
  return [...text.matchAll(namedValue)].flatMap(([, name = '', , quoted, number]) => {
    const value = quoted ?? Number(number);
    return hasVolatileForm(String(value)) ? [] : [{ words: splitName(name), value }];
  });
}

function walk(
  value: unknown,
  { words, pointer, origin }: { words: readonly string[]; pointer: string; origin: Origin },
): LearnedValue[] {
  if (typeof value === 'number' || typeof value === 'string') {
    if (typeof value === 'string' && (value === '' || value.length > longestText)) return [];
    const { step, given } = origin;
    const isFixed = step === null || given.has(String(value)) || !hasVolatileForm(String(value));
    return [{ words: dropRepeats(words), value: isFixed ? value : writeReference({ step, capture: pointer }) }];
  }
  if (Array.isArray(value)) {
    return value.slice(0, 5).flatMap((item, index) => walk(item, { words, pointer: `${pointer}/${index}`, origin }));
  }
  if (!isRecord(value)) return [];
  const members = Object.entries(value).slice(0, 50);
  return members
    .flatMap(([name, member]) =>
      walk(member, {
        words: [...words, ...splitName(name)],
        pointer: `${pointer}/${escapePointerToken(name)}`,
        origin,
      }),
    )
    .slice(0, maxValues);
}

function dropRepeats(words: readonly string[]): string[] {
  return words.filter((word, index) => word !== words[index - 1]);
}

/** What names a thing: `database` is asked for where a list of databases has a `name` for each. */
const naming = new Set(['name', 'id', 'key', 'path']);

/** A name of the thing itself answers a little better than that of another one. */
const namingRate = 0.9;

/** Rates known words as those of the thing, too, that they name. */
function rateKnown(wanted: readonly string[], known: readonly string[]): number {
  const thing = naming.has(known.at(-1) ?? '') ? known.slice(0, -1) : [];
  return Math.max(rateSimilarity(wanted, known), namingRate * rateSimilarity(wanted, thing));
}

/** Lists the values known under the same or a similar name, or as the name of such a thing, the most similar one first. */
export function findLearned(values: readonly LearnedValue[], name: string, tool: string): Array<string | number> {
  const own = splitName(name);
  const withTool = [...readThing(tool), ...own];
  const rated = values.map(({ words, value }) => ({
    value,
    rate: Math.max(rateKnown(own, words), rateKnown(dropRepeats(withTool), words)),
  }));
  const found = rated.filter(({ rate }) => rate > 0).toSorted((a, b) => b.rate - a.rate);
  return [...new Set(found.map(({ value }) => value))].slice(0, 8);
}
