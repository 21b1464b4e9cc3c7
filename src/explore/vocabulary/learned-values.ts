import { escapePointerToken } from '../../base/json-pointer.ts';
import { isRecord, type JsonObject, listRecords, tryParseJson } from '../../base/json.ts';
import { writeReference } from '../world/placeholders.ts';
import { hasVolatileForm } from '../stability/forms.ts';
import { rateSimilarity, splitName } from './names.ts';

/** A value that a server returned, or accepted, under a name. */
export interface LearnedValue {
  /** The words of its name, with those of its owner: `entity name`. */
  words: readonly string[];
  /** The value, or a reference to it if it reads as one that differs each time. */
  value: string | number;
}

const maxValues = 200;
const longestText = 200;

/** Collects the named values in a result. `step` is its number in the session, for references to values that may differ each time. */
export function learnFromResult(result: JsonObject, { tool, step }: { tool: string; step: number }): LearnedValue[] {
  const { structuredContent, content } = result;
  const about = splitName(tool).slice(1);
  if (isRecord(structuredContent))
    return walk(structuredContent, { words: about, pointer: '/structuredContent', step });
  const blocks = listRecords(content);
  return blocks.flatMap((block, index) => {
    if (typeof block['uri'] === 'string') return [{ words: ['uri'], value: block['uri'] }];
    const document = typeof block['text'] === 'string' ? tryParseJson(block['text']) : undefined;
    if (typeof document !== 'object') return [];
    return walk(document, { words: about, pointer: `/content/${index}/text`, step });
  });
}

/** Collects the named values in the arguments of a call, which are known words whatever the result is. */
export function learnFromArguments(args: JsonObject, tool: string): LearnedValue[] {
  return walk(args, { words: splitName(tool).slice(1), pointer: '', step: null });
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
  { words, pointer, step }: { words: readonly string[]; pointer: string; step: number | null },
): LearnedValue[] {
  if (typeof value === 'number' || typeof value === 'string') {
    if (typeof value === 'string' && (value === '' || value.length > longestText)) return [];
    const isFixed = step === null || !hasVolatileForm(String(value));
    return [{ words: dropRepeats(words), value: isFixed ? value : writeReference(step, pointer) }];
  }
  if (Array.isArray(value)) {
    return value.slice(0, 5).flatMap((item, index) => walk(item, { words, pointer: `${pointer}/${index}`, step }));
  }
  if (!isRecord(value)) return [];
  const members = Object.entries(value).slice(0, 50);
  return members
    .flatMap(([name, member]) =>
      walk(member, { words: [...words, ...splitName(name)], pointer: `${pointer}/${escapePointerToken(name)}`, step }),
    )
    .slice(0, maxValues);
}

function dropRepeats(words: readonly string[]): string[] {
  return words.filter((word, index) => word !== words[index - 1]);
}

/** Lists the values known under the same or a similar name, the most similar one first. */
export function findLearned(values: readonly LearnedValue[], name: string, tool: string): Array<string | number> {
  const own = splitName(name);
  const withTool = [...splitName(tool).slice(1), ...own];
  const rated = values.map(({ words, value }) => ({
    value,
    rate: Math.max(rateSimilarity(own, words), rateSimilarity(dropRepeats(withTool), words)),
  }));
  const found = rated.filter(({ rate }) => rate > 0).toSorted((a, b) => b.rate - a.rate);
  return [...new Set(found.map(({ value }) => value))].slice(0, 8);
}
