import { listSecretForms, longestRemnant, type SecretForm } from './secret-forms.ts';
import { cutMark } from './text.ts';
import { listTextViews } from './text-views.ts';

/** A part of a text, from `start` up to but not including `end`. */
interface Range {
  start: number;
  end: number;
}

/** Finds the forms of many secrets in one pass over a text, however many there are, and in one over each of its views. */
export interface SecretFinder {
  add(secret: string): void;
  /** In the order of the text; what overlaps is one range. */
  find(text: string): Range[];
}

/** Says how far a secret reaches that may begin at `start`, or end in what begins there. */
type Reach = (text: string, start: number) => Range | null;

export function createSecretFinder(): SecretFinder {
  const known = new Set<string>();
  const reaches = new Map<number, Reach[]>();
  // Most places of a text begin no secret; this rules them out without a look into the map.
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

/** Two characters of which one may be anything mix into one number; a clash costs a comparison and nothing else. */
function readKey(text: string, index: number): number {
  return (text.charCodeAt(index) ^ (text.charCodeAt(index + 1) << 8)) & 0xffff;
}

/** Ranges come in the order in which they were found; one that reaches back may swallow several before it. */
function addRange(ranges: Range[], { start, end }: Range): void {
  const merged = { start, end };
  for (let last = ranges.at(-1); last !== undefined && last.end > merged.start; last = ranges.at(-1)) {
    merged.start = Math.min(merged.start, last.start);
    merged.end = Math.max(merged.end, last.end);
    ranges.pop();
  }
  ranges.push(merged);
}

/** Finds a form, or its beginning where a cut took the end away. */
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

/** Whether something was cut here, by us or by V8, which quotes ten characters of what is no JSON. */
function isCut(text: string, index: number): boolean {
  return text[index] === cutMark || text.startsWith('"...', index);
}

/** Every JSON around JSON, and every shell around a shell, puts more of them before a character. */
function skipBackslashes(text: string, index: number, wanted: string | undefined): number {
  if (wanted === '\\') return index;
  let next = index;
  while (text[next] === '\\') next += 1;
  return next;
}

/** Finds the end of a form of which a cut took the beginning away. */
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
