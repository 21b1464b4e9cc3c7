import { statSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { resolveWords } from '../server/start-in-place.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Replaces the directory of the workspace in the words of a command by its placeholder. A file below it stays, because it may be the program. */
export function placeCommand(words: readonly string[], cwd: string, { path }: Pick<Workspace, 'path'>): string[] {
  return resolveWords(words, cwd).map((word) => {
    if (resolve(cwd, word) === path) return '{{workspace}}';
    const isWithin = path !== null && word.startsWith(`${path}${sep}`);
    const isFile = statSync(word, { throwIfNoEntry: false })?.isFile() === true;
    return isWithin && !isFile ? `{{workspace}}${word.slice(path.length)}` : word;
  });
}
