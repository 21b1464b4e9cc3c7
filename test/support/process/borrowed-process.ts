import { setFlagsFromString } from 'node:v8';
import { vi } from 'vitest';
import { listChildVariables } from './child-environment.ts';
import type { CommandResult } from './command.ts';

interface Borrowed {
  /** The file that would have been started; by default, that of this process. */
  script?: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/**
 * Gives this process a directory, an environment and a script until it is disposed. Captures its output, and finally removes the listeners that
 * an entry adds. The whole process shares them, so only one test at a time may borrow it.
 */
export function borrowProcess({ script, cwd, env }: Borrowed) {
  const stack = new DisposableStack();
  const output = { stdout: '', stderr: '' };
  let printed = '';
  borrowDirectory(stack, cwd);
  borrowEnvironment(stack, env);
  if (script !== undefined) borrowScript(stack, script);
  for (const name of ['stdout', 'stderr'] as const) {
    borrowStream(stack, process[name], (text) => {
      output[name] += text;
      printed += text;
    });
  }
  borrowListeners(stack, process, ['uncaughtException', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']);
  stack.defer(restoreHeapGrowth);
  return { output, printed: () => printed, [Symbol.dispose]: () => stack.dispose() };
}

export interface Surroundings extends Omit<Borrowed, 'env'> {
  /** In addition to the variables of every process that a test starts; there are no others. */
  env?: Readonly<Record<string, string>>;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the code of an entry in a borrowed process, and returns the result that a process would have. Simultaneous calls run one after the other.
 * It does not prove the exit code of a real process; tests that start one do.
 */
export function runBorrowed(surroundings: Surroundings, run: () => Promise<number>): Promise<CommandResult> {
  const result = last.then(async () => {
    using borrowed = borrowProcess({ ...surroundings, env: { ...listChildVariables(), ...surroundings.env } });
    const exitCode = await run();
    return { exitCode, ...borrowed.output };
  });
  last = result.catch(() => {});
  return result;
}

function borrowDirectory(stack: DisposableStack, cwd: string): void {
  const own = process.cwd();
  process.chdir(cwd);
  stack.defer(() => process.chdir(own));
}

function borrowEnvironment(stack: DisposableStack, variables: Readonly<Record<string, string>>): void {
  const own = { ...process.env };
  replaceEnvironment(variables);
  stack.defer(() => replaceEnvironment(own));
}

function replaceEnvironment(variables: Readonly<NodeJS.ProcessEnv>): void {
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

/** Tracks the listeners, because an entry never removes them: its process ends. */
function borrowListeners(stack: DisposableStack, emitter: NodeJS.EventEmitter, events: readonly string[]): void {
  const note = (event: string, listener: () => void) => {
    if (events.includes(event)) stack.defer(() => emitter.off(event, listener));
  };
  emitter.on('newListener', note);
  stack.defer(() => emitter.off('newListener', note));
}

/** Restores the heap growth, which a gate sets for its whole process. */
function restoreHeapGrowth(): void {
  for (const flag of process.execArgv) if (flag.startsWith('--heap-growing-percent=')) setFlagsFromString(flag);
}
