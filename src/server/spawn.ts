import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { isAbsolute } from 'node:path';

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

function start(file: string, args: readonly string[], options: ProcessOptions): ChildProcess {
  return spawn(file, [...args], { windowsHide: true, ...options });
}
