import { fileURLToPath } from 'node:url';
import { silentLogger } from '../../src/base/logger.ts';
import { type Clock, systemClock } from '../../src/base/time.ts';
import type { Exploration } from '../../src/explore/exploration.ts';
import { exploreAndCheck } from '../../src/explore/check-exploration.ts';
import { generatedWorkspace } from '../../src/explore/world/generated-files.ts';
import { openWorlds } from '../../src/explore/world/open-worlds.ts';
import { readWorkspace } from '../../src/workspace/workspace.ts';
import { startInProcess } from './servers/program-in-process.ts';
import { everythingServerPath, filesystemServerPath, memoryServerPath } from './servers/bundled-servers.ts';

export const exploredServerPath = fileURLToPath(new URL('servers/explored-server.mjs', import.meta.url));

/** The command of a server whose tools are chosen by the names of their sets. */
export function nameExploredServer(...sets: string[]): string {
  return ['node', exploredServerPath, ...sets].join(' ');
}

/** The sets whose tools end, block or flood the process, or remove its directory. */
const ofProcesses = new Set(['crash', 'flooding', 'hang', 'noise', 'slow', 'start-noise', 'vanishing']);

function canRunInProcess(command: string): boolean {
  const words = command.split(' ');
  return words[1] === exploredServerPath && !words.some((word) => ofProcesses.has(word));
}

/** The commands and variables of servers of other authors. An exploration starts a server for each session, so each is one file. */
export const knownServers = {
  everything: { command: `node ${everythingServerPath} stdio`, env: {} },
  filesystem: { command: `node ${filesystemServerPath} {{workspace}}`, env: {} },
  memory: {
    command: `node ${memoryServerPath}`,
    env: { MEMORY_FILE_PATH: '{{workspace}}/memory.jsonl' },
  },
} as const;

interface Settings {
  env?: Record<string, string>;
  seed?: number;
  budget?: number | null;
  workspace?: string | null;
  sandbox?: 'auto' | 'off';
  call?: 'read-only' | 'all';
  callMs?: number;
  /** `process` starts the explored server as a process for each session, which is needed only by tests of its process. */
  server?: 'in-process' | 'process';
  /** The clock and the limit of the exploration itself; its worlds always have that of the system. */
  clock?: Clock;
  timeLimitMs?: number;
}

/** Explores a server, without a sandbox by default. The time limit is far above what an exploration takes. */
export async function exploreInTest(command: string, settings: Settings = {}): Promise<Exploration> {
  const {
    env = {},
    seed = 1,
    budget = 120,
    workspace = null,
    sandbox = 'off',
    call = 'all',
    callMs = 20_000,
    clock = systemClock,
    timeLimitMs = 3_600_000,
    server = canRunInProcess(command) && sandbox === 'off' ? 'in-process' : 'process',
  } = settings;
  const files = workspace === null ? generatedWorkspace : await readWorkspace(workspace, import.meta.dirname);
  await using source = await openWorlds(
    {
      command,
      env,
      cwd: import.meta.dirname,
      readyTimeoutMs: 60_000,
      workspace: files,
      sandbox,
      isSandboxEnabled: false,
      limits: { callMs, pingMs: Math.min(callMs, 5000) },
      ...(server === 'in-process' && { startServer: startInProcess }),
    },
    { clock: systemClock, logger: silentLogger, signal: new AbortController().signal, environment: process.env },
  );
  return await exploreAndCheck(source, {
    seed,
    budget,
    timeLimitMs,
    call,
    whyReadOnly: 'the test says so',
    safeTools: [],
    earlier: null,
    workspace: files,
    clock,
    onProgress: () => {},
  });
}

/** Lists kinds and tools of findings, such as `crash explode`. */
export function listFindings({ findings }: Exploration): string[] {
  return findings.map(({ kind, tool }) => `${kind} ${tool}`);
}
