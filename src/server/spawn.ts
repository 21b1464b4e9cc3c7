import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { setImmediate } from 'node:timers/promises';

/** The options of every process. It inherits no variable of this process that `env` does not have. */
type ProcessOptions = Omit<SpawnOptions, 'env' | 'shell'> & { env: NodeJS.ProcessEnv };

/**
 * Starts a program of the gate, without a shell. No other file of the gate starts a process.
 *
 * @throws {TypeError} if `file` is no absolute path: the choice of program must not depend on the content of PATH at that moment
 */
export function spawnProgram(file: string, args: readonly string[], options: ProcessOptions): ChildProcess {
  if (!isAbsolute(file)) throw new TypeError(`${file} is no absolute path.`);
  return start(file, args, options);
}

/** Starts a program by the PATH of `env`: a server under test, a step of its evals, the setup of a base, or a container engine. */
export function spawnByName(file: string, args: readonly string[], options: ProcessOptions): ChildProcess {
  return start(file, args, options);
}

/** How a program ended, and what it printed. */
export interface ProgramEnd {
  /** Null if a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  /** The last 64 KiB. */
  stderr: string;
  /** True if it was ended because it printed more than it may. */
  isTooLong: boolean;
}

const maxErrorLength = 64 * 1024;

/**
 * Runs a program without a shell and input, and collects what it prints. Ends it once stdout has more than `maxBytes`.
 *
 * @throws {Error} if it cannot be started, or if the signal of the options aborts
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  { maxBytes, ...options }: Omit<ProcessOptions, 'stdio'> & { maxBytes: number },
): Promise<ProgramEnd> {
  const child = spawnProgram(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  let size = 0;
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) child.kill('SIGKILL');
    else chunks.push(chunk);
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr = (stderr + chunk).slice(-maxErrorLength)));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(chunks).toString('utf8'), stderr, isTooLong: size > maxBytes }),
    );
  });
}

/**
 * Waits until the event loop has read what had arrived. The loop may see the end of a process before its last output, and after a pause the
 * timer of a limit fires before the loop reads again.
 */
export async function lookForInput(): Promise<void> {
  // The first turn ends after the input that is being handled now, the second one after the next look.
  for (let turn = 1; turn <= 2; turn += 1) await setImmediate();
}

function start(file: string, args: readonly string[], options: ProcessOptions): ChildProcess {
  return spawn(file, [...args], { windowsHide: true, ...options });
}
