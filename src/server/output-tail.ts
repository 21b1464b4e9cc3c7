import { clipLines, clipText, cutMark } from '../base/text.ts';
import type { Clock } from '../base/time.ts';
import type { OutputLine } from '../model/process-end.ts';

/** Longer lines are cut when they are read back: one line of a minified bundle must not fill a report. */
const maxLineLength = 2000;

const lineFeed = 10;

/** Keeps the last bytes that were written, in constant memory however many there are. */
export interface OutputTail {
  append(chunk: Uint8Array): void;
  /** Returns the last `maxLines` lines, oldest first, without a line whose beginning is lost. */
  readLines(maxLines: number): string[];
}

export function createOutputTail(maxBytes = 256 * 1024): OutputTail {
  const bytes = Buffer.alloc(maxBytes);
  let written = 0;
  return {
    append: (chunk) => {
      const kept = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).subarray(-maxBytes);
      const copied = kept.copy(bytes, (written + chunk.length - kept.length) % maxBytes);
      kept.copy(bytes, 0, copied);
      written += chunk.length;
    },
    readLines: (maxLines) => {
      const start = written % maxBytes;
      const isWrapped = written > maxBytes;
      const kept = isWrapped
        ? Buffer.concat([bytes.subarray(start), bytes.subarray(0, start)])
        : bytes.subarray(0, written);
      const lines = kept.toString('utf8').split(/\r?\n/);
      if (isWrapped) lines.shift();
      if (lines.at(-1) === '') lines.pop();
      return lines.slice(-maxLines).map((line) => clipText(line, maxLineLength));
    },
  };
}

/** Keeps the last parts of an output, of at most `maxBytes` bytes together, with their times. */
export interface TimedOutput {
  append(chunk: Uint8Array): void;
  /** Returns the last `maxLines` lines, oldest first, without a line whose beginning is lost. */
  readLines(maxLines: number): OutputLine[];
}

export function createTimedOutput(clock: Clock, maxBytes: number): TimedOutput {
  let chunks: Array<{ atMs: number; bytes: Buffer }> = [];
  let size = 0;
  let isCut = false;
  return {
    append: (chunk) => {
      chunks.push({ atMs: clock.now(), bytes: Buffer.from(chunk.subarray(-maxBytes)) });
      size += Math.min(chunk.length, maxBytes);
      isCut ||= chunk.length > maxBytes;
      while (size > maxBytes) {
        const [first] = chunks;
        if (first === undefined) break;
        const excess = Math.min(size - maxBytes, first.bytes.length);
        first.bytes = first.bytes.subarray(excess);
        size -= excess;
        isCut = true;
        if (first.bytes.length === 0) chunks = chunks.slice(1);
      }
    },
    readLines: (maxLines) => {
      const lines: OutputLine[] = [];
      let open: Buffer[] = [];
      let atMs = 0;
      const close = () => {
        lines.push({ atMs, text: clipText(Buffer.concat(open).toString('utf8').replace(/\r$/, ''), maxLineLength) });
        open = [];
      };
      for (const { atMs: readAtMs, bytes } of chunks) {
        for (let start = 0; start < bytes.length;) {
          const feed = bytes.indexOf(lineFeed, start);
          if (open.length === 0) atMs = readAtMs;
          open.push(bytes.subarray(start, feed === -1 ? undefined : feed));
          if (feed !== -1) close();
          start = feed === -1 ? bytes.length : feed + 1;
        }
      }
      if (open.length > 0) close();
      return (isCut ? lines.slice(1) : lines).slice(-maxLines);
    },
  };
}

/** The most output of a server that a report quotes: enough for the end of a stack trace. */
const quoted = { lines: 20, length: 4096, lineLength: 500 };

/** Keeps the last lines that a report has room for: at most 20 lines and 4,096 UTF-16 units, line breaks included. */
export function keepLastLines(lines: readonly string[]): string[] {
  const last = lines
    .slice(-quoted.lines)
    .map((line) => clipText(line.trimEnd(), quoted.lineLength))
    // Below a line of a minified bundle, Node marks a column that is far beyond every screen.
    .filter((line) => line.trim() !== cutMark);
  return clipLines(last, quoted.length);
}
