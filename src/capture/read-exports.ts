import { describeError } from '../base/errors.ts';
import { tryParseJson } from '../base/json.ts';
import { parseSource } from '../suite/source-document.ts';
import type { ExportKind } from './export-kind.ts';
import type { JournalEntry, JournalProblem } from './journal.ts';
import { cassettes } from './read-cassette.ts';
import { conversations } from './read-conversations.ts';
import { spans } from './read-spans.ts';
import { transcripts } from './read-transcripts.ts';

const kinds: readonly ExportKind[] = [spans, cassettes, transcripts, conversations];

/** Reads the calls in a file that another program exported. Returns the first problem of a text that is none. */
export function readExports(text: string): readonly JournalEntry[] | JournalProblem {
  const documents = parseDocuments(text);
  if (!Array.isArray(documents)) return documents;
  const [first] = documents;
  const kind = kinds.find(({ isKind }) => isKind(first?.value));
  if (kind === undefined) return { line: 1, expected: kinds.map(({ expected }) => expected).join(', or ') };
  const other = documents.find(({ value }) => !kind.isKind(value));
  if (other !== undefined) return { line: other.line, expected: kind.expected };
  const entries = kind.read(documents.map(({ value }) => value));
  if (!('expected' in entries)) return entries;
  const { document, path, expected } = entries;
  // A text of several documents has one a line.
  const within = documents.length > 1 ? null : parseSource(text, '').document?.locateValue(path);
  return { line: within?.line ?? documents[document]?.line ?? 1, expected };
}

interface ParsedDocument {
  line: number;
  value: unknown;
}

/** Parses a text that is one JSON document, or has one a line. */
function parseDocuments(text: string): ParsedDocument[] | JournalProblem {
  const whole = tryParseJson(text);
  if (whole !== undefined) return [{ line: 1, value: whole }];
  const lines = text.split('\n').flatMap((each, index) => (each.trim() === '' ? [] : [{ each, line: index + 1 }]));
  const documents: ParsedDocument[] = [];
  for (const { each, line } of lines) {
    const value = tryParseJson(each);
    if (value === undefined) return { line: documents.length === 0 ? findBreak(text) : line, expected: 'JSON' };
    documents.push({ line, value });
  }
  return documents;
}

/** Finds the line in which a text ceases to be JSON: the lines before it are the beginning of some JSON. */
function findBreak(text: string): number {
  const lines = text.trimEnd().split('\n');
  let [first, last] = [1, lines.length];
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if (isBeginning(lines.slice(0, middle).join('\n'))) first = middle + 1;
    else last = middle;
  }
  return first;
}

function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = describeError(error);
    const [, position] = /position (\d+)/.exec(message) ?? [];
    return position === undefined ? message.includes('end of JSON') : Number(position) >= text.length;
  }
}
