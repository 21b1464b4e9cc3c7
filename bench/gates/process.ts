// Starts a program in a process group of its own, so that nothing of it is left.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Ran {
  /** Null where a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
  hung: boolean;
}

interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
  limitMs?: number;
}

/** Groups that run now, which a signal to the benchmark ends, too. */
const groups = new Set<number>();

const maxOutput = 4 * 1024 * 1024;

/** Runs a program to its end, or ends its whole group at the limit. */
export async function runProgram([file = '', ...args]: readonly string[], options: RunOptions): Promise<Ran> {
  const { cwd, env, limitMs = 600_000 } = options;
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  keepGroup(child.pid);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8');
    child[name].on('data', (text: string) => {
      if (output[name].length < maxOutput) output[name] += text;
    });
  }
  let hung = false;
  const limit = setTimeout(() => {
    hung = true;
    endGroup(child.pid);
  }, limitMs);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output, hung };
  } catch (error) {
    return { code: 127, stdout: '', stderr: String(error), hung: false };
  } finally {
    clearTimeout(limit);
    endGroup(child.pid);
  }
}

export function keepGroup(pid: number | undefined): void {
  if (pid !== undefined) groups.add(pid);
}

export function endAllGroups(): void {
  for (const pid of groups) endGroup(pid);
}

/** Ends a process and all that it started in its group. */
export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  groups.delete(pid);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group ended by itself.
  }
}
