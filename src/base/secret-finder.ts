import { listSecretForms, longestRemnant, type SecretForm } from './secret-forms.ts';
import { cutMark } from './text.ts';
import { listTextViews } from './text-views.ts';

/** A part of a text, from `start` up to but not including `end`. */
interface Range {
  start: number;
  end: number;
}

/** Finds the forms of many secrets in one pass over a text, however many there are, and in one pass over each of its views. */
export interface SecretFinder {
  add(secret: string): void;
  /** Lists ranges in the order of the text; overlapping ranges are merged. */
  find(text: string): Range[];
}

/** Finds the extent of a secret that begins at `start`, or whose end begins there; null if there is none. */
type Reach = (text: string, start: number) => Range | null;

export function createSecretFinder(): SecretFinder {
  const known = new Set<string>();
  const reaches = new Map<number, Reach[]>();
  // Most positions in a text begin no secret; this table rules them out without a lookup in the map.
  const isKnownKey = new Uint8Array(2 ** 16);

  const watchFor = (first: string, reach: Reach) => {
    const key = readKey(first, 0);
    isKnownKey[key] = 1;
    reaches.set(key, [...(reaches.get(key) ?? []), reach]);
  };
  const scan = (text: string): Range[] => {
    const ranges: Range[] = [];
    for (let start = 0; start < text.length - 1; start += 1) {
      const key = readKey(text, start);
      if (isKnownKey[key] === 0) continue;
      for (const reach of reaches.get(key) ?? []) {
        const range = reach(text, start);
        if (range !== null) addRange(ranges, range);
      }
    }
    return ranges;
  };
  return {
    add: (secret) => {
      for (const form of listSecretForms(secret)) {
        if (known.has(form.text)) continue;
        known.add(form.text);
        watchFor(form.text, reachForward(form));
        if (form.isRandom) watchFor(form.text.slice(-longestRemnant - 1), reachBack(form.text));
      }
    },
    find: (text) => {
      if (known.size === 0) return [];
      const hidden = listTextViews(text).flatMap((view) => scan(view.text).map((range) => view.locate(range)));
      const plain = scan(text);
      if (hidden.length === 0) return plain;
      const ranges: Range[] = [];
      for (const range of [...plain, ...hidden].toSorted((a, b) => a.start - b.start)) addRange(ranges, range);
      return ranges;
    },
  };
}

/** Mixes two characters into one number, whatever the second one is; a collision only costs a comparison. */
function readKey(text: string, index: number): number {
  return (text.charCodeAt(index) ^ (text.charCodeAt(index + 1) << 8)) & 0xffff;
}

/** Ranges arrive in the order in which they are found; a range that reaches back may overlap several before it. */
function addRange(ranges: Range[], { start, end }: Range): void {
  const merged = { start, end };
  for (let last = ranges.at(-1); last !== undefined && last.end > merged.start; last = ranges.at(-1)) {
    merged.start = Math.min(merged.start, last.start);
    merged.end = Math.max(merged.end, last.end);
    ranges.pop();
  }
  ranges.push(merged);
}

/** Finds a form, or its beginning if its end was cut off. */
function reachForward({ text: form, isRandom, shortestBeginning }: SecretForm): Reach {
  const first = form.slice(0, 2);
  return (text, start) => {
    if (!text.startsWith(first, start)) return null;
    let length = first.length;
    let end = start + length;
    while (length < form.length) {
      const next = skipBackslashes(text, end, form[length]);
      if (text[next] !== form[length]) break;
      end = next + 1;
      length += 1;
    }
    const isFound =
      length === form.length ||
      (isRandom && length >= shortestBeginning) ||
      (length > longestRemnant && isCut(text, end));
    return isFound ? { start, end } : null;
  };
}

/** Checks if the text was cut here: by the gate, or by V8, which quotes ten characters of invalid JSON. */
function isCut(text: string, index: number): boolean {
  return text[index] === cutMark || text.startsWith('"...', index);
}

/** Skips escapes: each level of JSON in JSON, or of shell in shell, adds backslashes before a character. */
function skipBackslashes(text: string, index: number, wanted: string | undefined): number {
  if (wanted === '\\') return index;
  let next = index;
  while (text[next] === '\\') next += 1;
  return next;
}

/** Finds the end of a form whose beginning was cut off. */
function reachBack(form: string): Reach {
  const shortest = form.slice(-longestRemnant - 1);
  return (text, start) => {
    if (!text.startsWith(shortest, start)) return null;
    let from = start;
    let missing = form.length - shortest.length;
    while (missing > 0 && from > 0 && text[from - 1] === form[missing - 1]) {
      missing -= 1;
      from -= 1;
    }
    return { start: from, end: start + shortest.length };
  };
}
