// Says whether two sides answer differently, once all that varies by itself is out of sight.

const forms: ReadonlyArray<readonly [RegExp, string]> = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|\s?[+-]\d\d:?\d\d)?/g, '‹time›'],
  [
    /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d\d? (?:\d{4} )?\d\d:\d\d:\d\d(?: GMT[+-]\d{4} \([^)]*\)| \d{4}(?: [+-]\d{4})?)?/g,
    '‹time›',
  ],
  [/\b\d{1,2}:\d\d:\d\d(?:\.\d+)?(?: ?[AP]M)?/g, '‹time›'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '‹uuid›'],
  [/\b1[5-9]\d{11}\b/g, '‹milliseconds›'],
];

/** Replaces what reads as a time or an id, whether it varied or not: two runs within a minute cannot see a date. */
export function maskForms(text: string): string {
  return forms.reduce((masked, [form, name]) => masked.replaceAll(form, name), text);
}

function split(text: string): string[] {
  return maskForms(text).match(/[\p{L}\p{N}_]+|[^\p{L}\p{N}_]+/gu) ?? [];
}

/** What several runs of one side have in common. */
export interface Stable {
  /** Null at each word that differs between the runs. */
  words: ReadonlyArray<string | null>;
}

/** Finds the words in which runs of the same side agree; null where they do not even have as many words. */
export function findStable(runs: readonly string[]): Stable | null {
  const [first = [], ...others] = runs.map(split);
  if (others.some(({ length }) => length !== first.length)) return null;
  return { words: first.map((word, index) => (others.every((other) => other[index] === word) ? word : null)) };
}

export function differs({ words }: Stable, text: string): boolean {
  const found = split(text);
  return found.length !== words.length || words.some((word, index) => word !== null && word !== found[index]);
}
