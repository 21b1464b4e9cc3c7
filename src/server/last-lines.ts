import { clipText } from '../base/clip.ts';

/** What a report quotes of a server's output: enough for the end of a stack trace. */
const maxLines = 20;
const maxLength = 4096;
const maxLineLength = 500;

/** Keeps of the lines the last ones that a report has room for: 20 lines and 4,096 UTF-16 units at most, line breaks included. */
export function keepLastLines(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines.slice(-maxLines).toReversed()) {
    const clipped = clipText(line, maxLineLength);
    length += clipped.length + 1;
    if (length > maxLength) break;
    kept.unshift(clipped);
  }
  return kept;
}
