import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnProgram } from '../server/spawn.ts';

/** Runs without a supervisor, because the watching process runs no server itself. */
export const watchFlag = '--watch';

/** The interval of comparing files. A run starts after an interval without changes, because builds write many files. */
const pollMs = 500;

/** Folders whose changes never need another run. */
const ignoredFolders: ReadonlySet<string> = new Set(['node_modules', '.git', '__pycache__', '.venv']);

/** Finds the files that change below a directory. */
export interface ChangeLog {
  /**
   * Returns the files that changed, appeared or disappeared since the last call, relative to the directory. The first call counts from the
   * opening of the log.
   */
  take: () => Promise<string[]>;
}

/**
 * Compares the files below a directory by size, time and inode. Files at `ignored` paths do not count. Compares files instead of watching
 * them, because a watcher on Linux loses a file that an editor or a build replaces by renaming another one.
 */
export async function openChangeLog(directory: string, ignored: readonly string[]): Promise<ChangeLog> {
  const skipped = new Set(ignored.map((path) => resolve(directory, path)));
  let before = await readStates(directory, skipped);
  return {
    take: async () => {
      const after = await readStates(directory, skipped);
      const all = new Set([...before.keys(), ...after.keys()]);
      const changed = [...all].filter((file) => before.get(file) !== after.get(file));
      before = after;
      return changed.map((file) => relative(directory, file));
    },
  };
}

/** Reads a state of each file that differs in any later version. Files that disappear meanwhile are skipped. */
async function readStates(root: string, skipped: ReadonlySet<string>): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (ignoredFolders.has(entry.name) || skipped.has(path)) continue;
      if (entry.isDirectory()) folders.push(path);
      const found = entry.isFile() ? await stat(path, { bigint: true }).catch(() => null) : null;
      if (found !== null) states.set(path, `${found.mtimeNs} ${found.size} ${found.ino}`);
    }
  }
  return states;
}

/**
 * Separates changes by a person from changes by the server, which may write files such as a database. A file that changes during two runs
 * in a row belongs to the server and is ignored from then on.
 */
export function createOwnFiles(): { add: (changed: readonly string[]) => { changed: string[]; own: string[] } } {
  const own = new Set<string>();
  let before: ReadonlySet<string> = new Set();
  return {
    add: (files) => {
      const fresh = files.filter((file) => !own.has(file));
      const repeated = fresh.filter((file) => before.has(file));
      for (const file of repeated) own.add(file);
      before = new Set(fresh);
      return { changed: fresh.filter((file) => !own.has(file)), own: repeated };
    },
  };
}

interface WatchOptions {
  directory: string;
  /** Paths that runs write to, such as the report directory. */
  ignored: readonly string[];
  /** Starts one run and resolves with its exit code. */
  run: (options: { isFailedOnly: boolean }) => Promise<number>;
  print: (line: string) => void;
  signal: AbortSignal;
}

/**
 * Runs the evals, and again after each change of a file below the directory, until the signal aborts. After a run with failures, the failed
 * cases run first, and all cases once these pass. Each run starts the server again. Returns the exit code of the last run.
 */
export async function watchRuns({ directory, ignored, run, print, signal }: WatchOptions): Promise<number> {
  const log = await openChangeLog(directory, ignored);
  const ownFiles = createOwnFiles();
  let exitCode = await run({ isFailedOnly: false });
  try {
    for (;;) {
      const { changed, own } = ownFiles.add(await log.take());
      for (const file of own) print(`Ignoring ${file}, which changes in every run.`);
      if (changed.length === 0) {
        print('Waiting for changes. Press Ctrl+C to end.');
        await waitForQuiet(log, signal);
      }
      signal.throwIfAborted();
      const isRetry = exitCode === 1;
      if (isRetry) exitCode = await run({ isFailedOnly: true });
      if (!isRetry || exitCode !== 1) exitCode = await run({ isFailedOnly: false });
      signal.throwIfAborted();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return exitCode;
  }
}

/** Waits for a change, and then until no more changes come. */
async function waitForQuiet(log: ChangeLog, signal: AbortSignal): Promise<void> {
  for (let isChanged = false, isQuiet = false; !isChanged || !isQuiet;) {
    await sleep(pollMs, undefined, { signal });
    isQuiet = (await log.take()).length === 0;
    isChanged ||= !isQuiet;
  }
}

/** Runs this command again in its own process, with other arguments. */
export async function runAgain(args: readonly string[]): Promise<number> {
  const [, program = ''] = process.argv;
  const child = spawnProgram(process.execPath, [...process.execArgv, program, ...args], {
    stdio: 'inherit',
    env: process.env,
  });
  return await new Promise((done, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => done(code ?? 3));
  });
}
