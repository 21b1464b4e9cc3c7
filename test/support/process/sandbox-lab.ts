import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { startProcess } from '../../../src/server/process.ts';
import type { ProcessExit } from '../../../src/server/process.ts';
import { createOutputTail } from '../../../src/server/output-tail.ts';
import { openSandbox } from '../../../src/server/sandbox/open-sandbox.ts';
import { findTools } from '../../../src/server/sandbox/tools.ts';
import type { OpenedSandbox, SandboxOptions } from '../../../src/server/sandbox/open-sandbox.ts';
import { createWorkspace } from '../workspace.ts';
import type { Workspace } from '../workspace.ts';

const systemDirectories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const tools = Object.keys(findTools(systemDirectories.join(':')));

interface ToolPath extends Disposable {
  path: string;
}

/** Creates a directory for PATH with only these sandbox tools, as far as this machine has them. */
function createToolPath(names: readonly string[]): ToolPath {
  const path = mkdtempSync(join(tmpdir(), 'tool-path-'));
  for (const name of names) {
    const found = systemDirectories.map((directory) => join(directory, name)).find((file) => existsSync(file));
    if (found !== undefined) symlinkSync(realpathSync(found), join(path, name));
  }
  // The gate uses no tool from a directory that the server could write to.
  chmodSync(path, 0o555);
  return {
    path,
    [Symbol.dispose]: () => {
      chmodSync(path, 0o755);
      rmSync(path, { recursive: true });
    },
  };
}

export type Maker = 'bwrap' | 'unshare';

/** Lists the tools that a sandbox of one of the two programs needs. */
export const listToolsOf = (maker: Maker): string[] => tools.filter((name) => maker === 'bwrap' || name !== 'bwrap');

export interface SandboxLab extends AsyncDisposable {
  workspace: Workspace;
  opened: OpenedSandbox;
  /** Runs a program to its end in the workspace. */
  run(words: readonly string[], env?: Record<string, string>): Promise<ProcessExit & { stdout: string }>;
  start(words: readonly string[], env?: Record<string, string>): ReturnType<typeof startProcess>;
}

/** Files of a job that decide its verdict, by kind. */
export const decisive = {
  evals: 'evals/x.evals.yaml',
  policy: 'policy.yml',
  baseline: 'baseline.json',
  history: 'history/history.jsonl',
  'report directory': 'report/report.json',
  'file of the runner': 'runner/output',
} as const;

/** Opens a workspace whose decisive files are protected, for programs that run in it. */
export async function openSandboxLab(
  options: Partial<SandboxOptions>,
  { tools: names = null }: { tools?: readonly string[] | null } = {},
): Promise<SandboxLab> {
  const workspace = await createWorkspace(
    Object.fromEntries(Object.values(decisive).map((file) => [file, 'as it was'])),
  );
  mkdirSync(join(workspace.path, 'state'));
  const at = (file: string) => join(workspace.path, file);
  const full: SandboxOptions = {
    mode: 'auto',
    network: 'on',
    writable: [],
    protect: [decisive.evals, decisive.policy, decisive.baseline, decisive.history, 'report', 'runner'].map(at),
    make: { directories: [], files: [] },
    ...options,
  };
  const toolPath = names === null ? null : createToolPath(names);
  const environment = { PATH: toolPath?.path ?? process.env['PATH'] };
  const opened = await openSandbox(full, { cwd: workspace.path, environment, logger: silentLogger }).catch(
    async (error: unknown) => {
      toolPath?.[Symbol.dispose]();
      await workspace[Symbol.asyncDispose]();
      throw error;
    },
  );
  const start = (words: readonly string[], env: Record<string, string> = {}) =>
    startProcess(words, {
      cwd: workspace.path,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      tail: createOutputTail(),
      clock: systemClock,
      sandbox: opened.sandbox,
      readsStdin: true,
    });
  return {
    workspace,
    opened,
    start,
    run: async (words, env) => {
      const server = start(words, env);
      let stdout = '';
      server.stdout.on('data', (chunk: Buffer) => {
        stdout += String(chunk);
      });
      const exit = await server.exited;
      await server.stop();
      return { ...exit, stdout };
    },
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      toolPath?.[Symbol.dispose]();
      await workspace[Symbol.asyncDispose]();
    },
  };
}

/** True if this machine allows the program to make a sandbox. */
export async function canMake(maker: Maker): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  await using lab = await openSandboxLab({}, { tools: listToolsOf(maker) });
  return lab.opened.report.why === `made with ${maker}`;
}
