import { join, split } from 'shlex';
import { ConfigurationError, describeError } from '../base/errors.ts';

/**
 * Splits a command into words as a POSIX shell would.
 *
 * @throws {ConfigurationError} if there is no word, a quote is not closed, or a backslash would be lost
 */
export function splitCommand(command: string): string[] {
  const fail = (code: string, message: string, cause?: unknown): never => {
    throw new ConfigurationError([{ code, input: 'server-command', message }], { cause });
  };
  const word = findWordThatLosesBackslash(command);
  if (word !== null) {
    const remedy = `Write ${word.replaceAll(/\\+/g, '/')} with forward slashes, or '${word}' in single quotes`;
    return fail('lost-backslash', `a POSIX shell removes the backslashes of ${word}, and so does the gate. ${remedy}`);
  }
  try {
    const words = split(command);
    return words.length > 0 ? words : fail('invalid-command', 'the command is empty');
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const message = `${JSON.stringify(command)} cannot be split into words: ${describeError(error)}`;
    return fail('invalid-command', message, error);
  }
}

/** Joins words to the command that splits into them. */
export function joinCommand(words: readonly string[]): string {
  return join(words);
}

/**
 * Finds the first word with an unquoted backslash before a character that needs no escape in a shell: it is probably a Windows path. A
 * backslash before a blank, a quote, `$` and the like is intended.
 */
function findWordThatLosesBackslash(command: string): string | null {
  for (const [word] of command.matchAll(/(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\])+/gs)) {
    const unquoted = word.replaceAll(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, (part) => (part.startsWith('\\') ? part : ''));
    if (/\\[\p{L}\p{N}_.:/@%+=,-]/u.test(unquoted.replaceAll('\\\\', ''))) return word;
  }
  return null;
}
