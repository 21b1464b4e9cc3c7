import { setFlagsFromString } from 'node:v8';
import { vi } from 'vitest';
import { listChildVariables } from './child-environment.ts';
import type { CommandResult } from './command.ts';

export interface Surroundings {
  cwd: string;
  /** In addition to the variables of every process that a test starts; there are no others. */
  env?: Record<string, string>;
  /** The file that a process would have been started with. */
  script?: string;
  /** Sees everything written so far on either stream. */
  onOutput?: (output: string) => void;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs what an entry runs within the test's process, and returns what a process would have ended with: the working directory, the
 * environment, the name of the script, both streams and the listeners of the process are borrowed for it, and given back. Calls at once
 * run one after the other. Nothing here proves that a process has this exit code: a test that starts one does.
 */
export function runBorrowed(surroundings: Surroundings, run: () => Promise<number>): Promise<CommandResult> {
  const result = last.then(async () => {
    using borrowed = borrowProcess(surroundings);
    const exitCode = await run();
    return { exitCode, ...borrowed.output };
  });
  last = result.catch(() => {});
  return result;
}

function borrowProcess({ cwd, env = {}, script, onOutput }: Surroundings) {
  const stack = new DisposableStack();
  const output = { stdout: '', stderr: '' };
  borrowDirectory(stack, cwd);
  borrowEnvironment(stack, { ...listChildVariables(), ...env });
  if (script !== undefined) borrowScript(stack, script);
  for (const name of ['stdout', 'stderr'] as const) {
    borrowStream(stack, process[name], (text) => {
      output[name] += text;
      onOutput?.(output.stdout + output.stderr);
    });
  }
  borrowListeners(stack, process, ['uncaughtException', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']);
  stack.defer(restoreHeapGrowth);
  return { output, [Symbol.dispose]: () => stack.dispose() };
}

function borrowDirectory(stack: DisposableStack, cwd: string): void {
  const own = process.cwd();
  process.chdir(cwd);
  stack.defer(() => process.chdir(own));
}

function borrowEnvironment(stack: DisposableStack, variables: Record<string, string>): void {
  const own = { ...process.env };
  replaceEnvironment(variables);
  stack.defer(() => replaceEnvironment(own));
}

function replaceEnvironment(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (variables[name] === undefined) delete process.env[name];
  Object.assign(process.env, variables);
}

function borrowScript(stack: DisposableStack, script: string): void {
  const own = process.argv;
  process.argv = [process.execPath, script];
  stack.defer(() => {
    process.argv = own;
  });
}

function borrowStream(stack: DisposableStack, stream: NodeJS.WriteStream, keep: (text: string) => void): void {
  const write = vi.spyOn(stream, 'write').mockImplementation((chunk, ...rest) => {
    keep(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    const written = rest.at(-1);
    if (typeof written === 'function') process.nextTick(written);
    return true;
  });
  stack.defer(() => {
    write.mockRestore();
  });
  borrowListeners(stack, stream, ['error']);
}

/** Removes the listeners that an entry adds: it never does, because its process ends. */
function borrowListeners(stack: DisposableStack, emitter: NodeJS.EventEmitter, events: readonly string[]): void {
  const note = (event: string, listener: () => void) => {
    if (events.includes(event)) stack.defer(() => emitter.off(event, listener));
  };
  emitter.on('newListener', note);
  stack.defer(() => emitter.off('newListener', note));
}

/** A gate sets it for its whole process. */
function restoreHeapGrowth(): void {
  for (const flag of process.execArgv) if (flag.startsWith('--heap-growing-percent=')) setFlagsFromString(flag);
}
