import { escapeExpression } from '../../base/text.ts';
import { splitName } from './names.ts';

/** An id in a text. */
export interface Identifier {
  /** A number if it has only digits: such an id counts, and is the same in every new world. */
  value: string | number;
  /** The words of its label: `task id`. */
  words: readonly string[];
  /** An RE2 expression whose group finds it in that text. */
  pattern: string;
}

/** Forms of ids that are different each time, and the group that matches each of them. */
const forms: ReadonlyArray<{ form: RegExp; group: string }> = [
  { form: /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, group: '([0-9a-fA-F-]{36})' },
  { form: /(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}(?![\w-])/g, group: '([0-9a-f]+)' },
  // What follows the word "id" is one if it has a digit.
  {
    form: /(?<=\b(?:[A-Za-z]+[ _-]?)?(?:id|ID|Id|uuid|UUID)\b["'`*]*(?: is)?[:=#]? ?["'`*#]*)(?=[\w-]*\d)[A-Za-z0-9][\w-]{0,63}\b/g,
    group: String.raw`([\w-]+)`,
  },
  // The key of a ticket or a document: `TASK-12`.
  {
    form: /(?<![\w-])(?!(?:utf|iso|rfc|sha|md|gpt|es|ipv|base|step|page|line|part|version|h|v|x)-)[A-Za-z]{1,10}-\d{1,6}(?![\w-]|\.\d)/gi,
    group: String.raw`([A-Za-z]+-\d+)`,
  },
];

/** The most ids of one text. */
const maxIdentifiers = 20;

/** Lists the ids that a text names, each once and in their order. */
export function findIdentifiers(text: string): Identifier[] {
  const found = new Map<string, { index: number; group: string }>();
  for (const { form, group } of forms) {
    for (const { 0: match, index } of text.matchAll(form)) if (!found.has(match)) found.set(match, { index, group });
  }
  return [...found]
    .toSorted(([, a], [, b]) => a.index - b.index)
    .slice(0, maxIdentifiers)
    .flatMap(([value, { index, group }]) => {
      const before = text.slice(0, index).split('\n').at(-1) ?? '';
      const pattern = findPattern(text, { value, before, group });
      if (pattern === null) return [];
      return [{ value: /^\d{1,15}$/.test(value) ? Number(value) : value, words: readLabel(before), pattern }];
    });
}

/** The most words before an id that its pattern has. */
const maxWords = 4;

/** Writes the shortest pattern that finds this id first in the text: its form after the words before it. Null if there is none. */
function findPattern(
  text: string,
  { value, before, group }: { value: string; before: string; group: string },
): string | null {
  const starts = [...before.matchAll(/[\p{L}\p{N}_]+/gu)].map(({ index }) => index).slice(-maxWords);
  // Without words before it, the id is found by its form.
  const prefixes = starts.length === 0 ? [before.slice(-10)] : starts.toReversed().map((start) => before.slice(start));
  for (const prefix of prefixes) {
    const pattern = `${escapeExpression(prefix)}${group}`;
    if (new RegExp(pattern, 'u').exec(text)?.[1] === value) return pattern;
  }
  return null;
}

/** Words before "id" that say nothing about whose it is. */
const joiningWords: ReadonlySet<string> = new Set([
  'with',
  'the',
  'an',
  'a',
  'its',
  'new',
  'has',
  'and',
  'by',
  'unique',
]);

/** Reads whose id follows: `task id` after "Task ID:", and `id` after another text. */
function readLabel(before: string): string[] {
  const [, owner] = /([A-Za-z]+)[ _-]?(?:id|uuid)\b[^A-Za-z0-9]*(?:is )?[^A-Za-z0-9]*$/i.exec(before) ?? [];
  const words = owner === undefined ? [] : splitName(owner).filter((word) => !joiningWords.has(word));
  return [...words, 'id'];
}
