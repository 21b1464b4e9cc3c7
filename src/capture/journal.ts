import { z } from 'zod';
import { isTooDeep, tryParseJson } from '../base/json.ts';
import { appendAll } from '../base/lists.ts';
import { clipText } from '../base/text.ts';
import type { Frame, Origin } from './frames.ts';
import type { Side } from './pass-through.ts';

/** A longer message is in the journal without its content. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** The most characters of a line that is no message. */
const longestNoise = 500;

/** How a journal begins: the session that it is about. */
const headSchema = z.object({
  journal: z.literal('mcp-eval-ci capture'),
  version: z.literal(1),
  /** The words of the command; empty for a server at a URL. */
  command: z.array(z.string()),
  url: z.string().nullable(),
  cwd: z.string(),
  /** The directory in which the server worked, a copy of the workspace; null without one. */
  place: z.string().nullable(),
});

export type JournalHead = z.infer<typeof headSchema>;

/** One message, in the order in which the messages were complete. */
export interface JournalEntry extends Origin {
  timeMs: number;
  from: Side;
  /** The message as it was read from JSON. */
  message?: unknown;
  /** A line that is no message. */
  text?: string;
  /** How many bytes a message has that is too long to keep. */
  bytes?: number;
}

const entrySchema = z.object({
  timeMs: z.number(),
  from: z.enum(['client', 'server']),
  session: z.number().exactOptional(),
  exchange: z.number().exactOptional(),
  message: z.unknown().exactOptional(),
  text: z.string().exactOptional(),
  bytes: z.number().exactOptional(),
});

export interface Journal {
  head: JournalHead;
  entries: readonly JournalEntry[];
}

type EntryStart = Omit<JournalEntry, 'message' | 'text' | 'bytes'>;

/** Splits the bytes of both sides into lines. Returns the entries that a frame completes. */
export function createLineReader(): (frame: Frame) => JournalEntry[] {
  const open = new Map<string, { chunks: Buffer[]; bytes: number }>();
  return ({ from, timeMs, bytes, session = 0, exchange }) => {
    const key = `${from} ${session} ${exchange}`;
    const line = open.get(key) ?? { chunks: [], bytes: 0 };
    open.set(key, line);
    const start = { timeMs, from, ...(session > 0 && { session }), ...(exchange !== undefined && { exchange }) };
    const entries: JournalEntry[] = [];
    let at = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, at)) {
      keep(line, bytes.subarray(at, end));
      appendAll(entries, readLine(line, start));
      line.chunks = [];
      line.bytes = 0;
      at = end + 1;
    }
    keep(line, bytes.subarray(at));
    return entries;
  };
}

function keep(line: { chunks: Buffer[]; bytes: number }, part: Buffer): void {
  line.bytes += part.length;
  // The content of a message that is too long is not kept in memory, either.
  if (line.bytes <= maxMessageBytes && part.length > 0) line.chunks.push(Buffer.from(part));
}

function readLine({ chunks, bytes }: { chunks: readonly Buffer[]; bytes: number }, entry: EntryStart): JournalEntry[] {
  if (bytes > maxMessageBytes) return [{ ...entry, bytes }];
  const text = Buffer.concat(chunks).toString('utf8').trim();
  return text === '' ? [] : [readMessage(text, entry)];
}

/** Reads the text of one message. */
export function readMessage(text: string, entry: EntryStart): JournalEntry {
  const message = tryParseJson(text);
  const isMessage = typeof message === 'object' && message !== null && !isTooDeep(message);
  return isMessage ? { ...entry, message } : { ...entry, text: clipText(text, longestNoise) };
}

/** Prints a line of a journal. */
export function printEntry(entry: JournalHead | JournalEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** What a text is instead of a journal: the line, and what was expected there. */
export interface JournalProblem {
  line: number;
  expected: string;
}

/**
 * Reads a journal. A last line without an end was being written when the recorder ended, and is dropped. Returns the first problem of a text
 * that is none.
 */
export function parseJournal(text: string): Journal | JournalProblem {
  const lines = text.split('\n').slice(0, -1);
  const head = headSchema.safeParse(tryParseJson(lines[0] ?? ''));
  if (!head.success) {
    return { line: 1, expected: 'the head of a journal of `mcp-eval-ci capture`, version 1' };
  }
  const entries: JournalEntry[] = [];
  for (const [index, line] of lines.entries()) {
    if (index === 0) continue;
    const entry = entrySchema.safeParse(tryParseJson(line));
    if (!entry.success) return { line: index + 1, expected: 'an entry with `timeMs`, `from` and a `message`' };
    entries.push(entry.data);
  }
  return { head: head.data, entries };
}
