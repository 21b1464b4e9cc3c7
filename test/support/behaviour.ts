import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger } from '../../src/base/logger.ts';
import { systemClock } from '../../src/base/time.ts';
import { compareBehaviour } from '../../src/behaviour/compare.ts';
import type { ComparedBehaviour } from '../../src/behaviour/comparison.ts';
import type { Corpus } from '../../src/behaviour/corpus.ts';
import { openWorlds } from '../../src/explore/world/open-worlds.ts';
import { generatedWorkspace } from '../../src/explore/world/generated-files.ts';
import { startInProcess } from './servers/program-in-process.ts';
import { createWorkspace } from './workspace.ts';

/** A text in the code of a server, and the text that replaces it in the change. */
export type Patch = readonly [before: string, after: string];

export interface ComparedServer {
  /** The directory to copy, and the file in it that starts the server. */
  folder: string;
  file: string;
  env?: Record<string, string>;
  /** Follows the file in the command. */
  args?: string;
}

export const noteServer: ComparedServer = {
  folder: join(import.meta.dirname, 'servers'),
  file: 'behaviour-server.mjs',
};

interface Settings {
  seed?: number;
  budget?: number | null;
  callMs?: number;
  cached?: Corpus | null;
  call?: 'all' | 'read-only';
  /** `process` starts a server without packages as a process for each session, too. */
  server?: 'in-process' | 'process';
}

/** Compares a server with a copy of it that has these patches. */
export async function comparePatched(
  { folder, file, env = {}, args = '' }: ComparedServer,
  patches: readonly Patch[],
  { seed = 1, budget = 150, callMs = 3000, cached = null, call = 'all', server = 'in-process' }: Settings = {},
): Promise<ComparedBehaviour> {
  await using copies = await createWorkspace({});
  const sides = { base: join(copies.path, 'base'), head: join(copies.path, 'the-head') };
  for (const directory of Object.values(sides)) {
    await mkdir(directory);
    if (folder === noteServer.folder) await cp(join(folder, file), join(directory, file));
    else await cp(folder, directory, { recursive: true });
  }
  const path = join(sides.head, file);
  let code = await readFile(path, 'utf8');
  for (const [before, after] of patches) {
    if (!code.includes(before)) throw new Error(`${file} has no ${before}`);
    code = code.replace(before, () => after);
  }
  await writeFile(path, code);
  const workspace = generatedWorkspace;
  const context = {
    clock: systemClock,
    logger: silentLogger,
    signal: new AbortController().signal,
    environment: process.env,
  };
  const open = async (directory: string) =>
    await openWorlds(
      {
        command: `node ${join(directory, file)} ${args}`.trim(),
        env,
        cwd: directory,
        readyTimeoutMs: 60_000,
        workspace,
        sandbox: 'off',
        limits: { callMs, pingMs: Math.min(callMs, 2000) },
        ...(server === 'in-process' && folder === noteServer.folder && { startServer: startInProcess }),
      },
      context,
    );
  await using base = await open(sides.base);
  await using head = await open(sides.head);
  return await compareBehaviour({
    base: { source: base, roots: [sides.base] },
    head: { source: head, roots: [sides.head] },
    identity: 'base',
    cached,
    callMs,
    workspace,
    seed,
    budget,
    timeLimitMs: 3_600_000,
    call,
    whyReadOnly: 'the test says so',
    clock: systemClock,
    onProgress: () => {},
  });
}
