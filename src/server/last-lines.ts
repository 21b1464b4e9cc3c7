import { clipLines, clipText } from '../base/text.ts';

/** What a report quotes of a server's output: enough for the end of a stack trace. */
const maxLines = 20;
const maxLength = 4096;
const maxLineLength = 500;

/** Keeps of the lines the last ones that a report has room for: 20 lines and 4,096 UTF-16 units at most, line breaks included. */
export function keepLastLines(lines: readonly string[]): string[] {
  const last = lines.slice(-maxLines).map((line) => clipText(line, maxLineLength));
  return clipLines(last, maxLength);
}
