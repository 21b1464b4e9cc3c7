import { spawn } from 'node:child_process';
import { commandPath } from './bundled-command.ts';
import { listChildVariables } from './child-environment.ts';

export interface CommandResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs the real command in a separate process. `onOutput` gets the whole output so far of both streams and may return a signal, which is sent
 * once.
 */
export function runCommand(
  args: readonly string[],
  options: {
    cwd: string;
    env?: Record<string, string>;
    /** The file to run instead of the command's own. */
    entry?: string;
    onOutput?: (output: string) => NodeJS.Signals | undefined;
    /** Sends SIGTERM when it aborts, or SIGINT or SIGKILL if that is the reason. */
    stop?: AbortSignal;
  },
): Promise<CommandResult> {
  const child = spawn(process.execPath, [options.entry ?? commandPath, ...args], {
    cwd: options.cwd,
    env: { ...listChildVariables(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => {
    const reason: unknown = options.stop?.reason;
    child.kill(reason === 'SIGINT' || reason === 'SIGKILL' ? reason : 'SIGTERM');
  };
  options.stop?.addEventListener('abort', stop, { once: true });
  const output = { stdout: '', stderr: '' };
  let hasSignalled = false;
  const collect = (name: 'stdout' | 'stderr') => (chunk: string) => {
    output[name] += chunk;
    const signal = hasSignalled ? undefined : options.onOutput?.(output.stdout + output.stderr);
    if (signal === undefined) return;
    hasSignalled = true;
    child.kill(signal);
  };
  child.stdout.setEncoding('utf8').on('data', collect('stdout'));
  child.stderr.setEncoding('utf8').on('data', collect('stderr'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, ...output }));
  });
}
