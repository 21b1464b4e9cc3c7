import { listSecretForms } from './secret-forms.ts';

/** A part of a text, from `start` up to but not including `end`. */
interface Range {
  start: number;
  end: number;
}

/** Finds the forms of many secrets in one pass over a text, however many there are. */
export interface SecretFinder {
  add(secret: string): void;
  /** In the order of the text; what overlaps is one range. */
  find(text: string): Range[];
}

/** What a cut may leave of a token without being found. */
const longestRemnant = 8;

/** The end of a form, or the whole of it, by its first characters: `reach` says how far a match at `start` goes. */
interface Anchor {
  reach(text: string, start: number): Range | null;
}

export function createSecretFinder(): SecretFinder {
  const known = new Set<string>();
  const anchors = new Map<number, Anchor[]>();
  // Most places of a text begin no secret; this tells so without a look into the map.
  const isAnchor = new Uint8Array(2 ** 16);

  const addAnchor = (first: string, anchor: Anchor) => {
    const key = readKey(first, 0);
    isAnchor[key] = 1;
    anchors.set(key, [...(anchors.get(key) ?? []), anchor]);
  };
  return {
    add: (secret) => {
      const remnants = isRandomToken(secret);
      for (const form of listSecretForms(secret)) {
        if (known.has(form)) continue;
        known.add(form);
        addAnchor(form, remnants ? anchorBeginning(form) : anchorWhole(form));
        if (remnants) addAnchor(form.slice(-longestRemnant - 1), anchorEnd(form));
      }
    },
    find: (text) => {
      const ranges: Range[] = [];
      for (let start = 0; start < text.length - 1; start += 1) {
        const key = readKey(text, start);
        if (isAnchor[key] === 0) continue;
        for (const anchor of anchors.get(key) ?? []) {
          const range = anchor.reach(text, start);
          if (range !== null) addRange(ranges, range);
        }
      }
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

function anchorWhole(form: string): Anchor {
  return {
    reach: (text, start) => (text.startsWith(form, start) ? { start, end: start + form.length } : null),
  };
}

/** Finds a form of which the end may be missing. */
function anchorBeginning(form: string): Anchor {
  const shortest = form.slice(0, longestRemnant + 1);
  return {
    reach: (text, start) => {
      if (!text.startsWith(shortest, start)) return null;
      let length = shortest.length;
      while (length < form.length && text[start + length] === form[length]) length += 1;
      return { start, end: start + length };
    },
  };
}

/** Finds a form of which the beginning may be missing, by its last characters. */
function anchorEnd(form: string): Anchor {
  const shortest = form.slice(-longestRemnant - 1);
  return {
    reach: (text, start) => {
      if (!text.startsWith(shortest, start)) return null;
      let missing = form.length - shortest.length;
      let from = start;
      while (missing > 0 && from > 0 && text[from - 1] === form[missing - 1]) {
        missing -= 1;
        from -= 1;
      }
      return { start: from, end: start + shortest.length };
    },
  };
}

/**
 * Whether a part of the value tells it from other text. That of a path, a URL or a name does not: the beginning of
 * `production-eu-west-1` stands in many a sentence.
 */
function isRandomToken(value: string): boolean {
  if (!/^[\w.~+/=-]{20,}$/.test(value) || /^[./~]|\/\//.test(value)) return false;
  return value.split(/[-./_~]/).some((part) => part.length >= 16 && /\d/.test(part) && /[A-Za-z]/.test(part));
}
