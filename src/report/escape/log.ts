import { flattenText, stripControls } from './plain.ts';

const zeroWidthSpace = '\u200B';

/**
 * Splits a text into the lines that the runner would see. It ends a line at `\r\n`, `\n` or a bare `\r`, so a text with any of them, escaped
 * as one line, would be two lines.
 */
export function splitLogLines(text: string): string[] {
  return stripControls(text).split('\n');
}

/**
 * Returns one line that the runner prints and does not obey. The runner takes `::command::` after any leading white space and `##[command]`
 * anywhere (actions/runner, ActionCommand.cs); a zero-width space breaks both. If the runner's string search is culture-sensitive, it skips
 * that character, but then cuts the name one character too early and knows no such command.
 */
export function escapeLogLine(line: string): string {
  return flattenText(line)
    .replaceAll('##[', `#${zeroWidthSpace}#[`)
    .replace(/^\s*(?=::)/, (indent) => `${indent}${zeroWidthSpace}`);
}

/**
 * Returns a text as one line that a terminal prints and does not obey. The command also runs in workflows, where its output is the runner's
 * log, so commands of the runner are broken up as well.
 */
export function escapeTerminalText(text: string): string {
  return escapeLogLine(flattenText(text));
}
