import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PlacePaths } from '../workspace/place.ts';
import { showPaths } from '../workspace/placeholders.ts';
import { resolveNpx } from './resolve-npx.ts';
import type { StartContext } from './running-server.ts';

/**
 * Starts the command in a place: its working directory, HOME and temporary directory are those of the place, and placeholders in its words
 * and variables are replaced by `paths`.
 */
export function startInPlace(start: StartContext, paths: PlacePaths): StartContext {
  return {
    ...start,
    words: resolveWords(start.words, start.cwd).map((word) => showPaths(word, paths)),
    cwd: paths.workspace,
    env: {
      ...Object.fromEntries(Object.entries(start.env).map(([name, value]) => [name, showPaths(value, paths)])),
      ...nameDirectories(paths),
    },
  };
}

/**
 * Makes words absolute that name a file of the user's directory, such as `build/index.js` or `server.py`: the program starts in a place, in which such a
 * file may be missing. So may a package whose program `npx` starts.
 */
export function resolveWords(words: readonly string[], cwd: string): string[] {
  return resolveNpx(words, cwd).map((word) => {
    if (!/^\.{0,2}[\w@-][^\s=:]*$|^\.{1,2}\//.test(word)) return word;
    // A program such as `node` is found in PATH, although a file may have its name.
    if (!word.includes('/') && !/\.(?:[cm]?[jt]s|py)$/.test(word)) return word;
    const path = join(cwd, word);
    return existsSync(path) ? path : word;
  });
}

/** The variables that point programs to the directories of a place. */
export function nameDirectories({ home, tmp }: PlacePaths): Record<string, string> {
  return {
    HOME: home,
    ...(process.platform === 'win32' ? { USERPROFILE: home, TEMP: tmp, TMP: tmp } : { TMPDIR: tmp }),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
  };
}
