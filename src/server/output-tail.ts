import { clipLines, clipText } from '../base/text.ts';

/** Longer lines are cut when they are read back: one line of a minified bundle must not fill a report. */
const maxLineLength = 2000;

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

/** The most output of a server that a report quotes: enough for the end of a stack trace. */
const quoted = { lines: 20, length: 4096, lineLength: 500 };

/** Keeps the last lines that a report has room for: at most 20 lines and 4,096 UTF-16 units, line breaks included. */
export function keepLastLines(lines: readonly string[]): string[] {
  const last = lines.slice(-quoted.lines).map((line) => clipText(line, quoted.lineLength));
  return clipLines(last, quoted.length);
}
