import { escapeLogLine } from './log.ts';
import { flattenText } from './plain.ts';

/**
 * Returns a text as one line that a terminal prints and does not obey. The command runs in workflows too, where its
 * output is the runner's log, so commands of the runner are broken up as well.
 */
export function escapeTerminalText(text: string): string {
  return escapeLogLine(flattenText(text));
}
