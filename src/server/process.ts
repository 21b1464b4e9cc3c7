import { isAbsolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Clock, race } from '../base/time.ts';
import type { DescendantLog } from './kill-orphans.ts';
import { createOutputTail, keepLastLines, type OutputTail } from './output-tail.ts';
import { isGroupAlive, signalGroup, waitForGroupEnd } from './process-tree.ts';
import { holdSandbox } from './sandbox/lease.ts';
import type { Sandbox } from './sandbox/open.ts';
import { spawnByName, spawnProgram } from './spawn.ts';
import type { Watchdog } from './watchdog.ts';

/** How long a server may take to leave after its stdin closed, and then after SIGTERM. Fits twice into a runner's 7.5 s. */
const stdinGraceMs = 1500;
const terminateGraceMs = 1000;

/** After the process is gone, descendants may hold its stdout open; what is still in the pipe is read for this long. */
const outputDrainMs = 250;

/** Of one process; the tail that all processes of a server share keeps more. */
const ownOutputBytes = 16 * 1024;
const lastLinesRead = 50;

export interface ProcessExit {
  /** Null after a signal, or where the process could not be started. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  error?: NodeJS.ErrnoException;
  /** The last lines of its output, oldest first, within the bounds of a report. */
  lastLines: readonly string[];
}

/** A started program with a process group of its own. */
export interface ServerProcess {
  /** Of the program, or of what starts it in its sandbox; undefined where it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Keeps a part of stdout that is no message with what the process writes to stderr. */
  addOutput(chunk: Buffer): void;
  /** Whether the program has ended, although its output may not be read yet. */
  readonly hasEnded: boolean;
  /** Resolves once the program has ended and its output is read. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Asks the whole group to leave: stdin closed (and waited for where that is read), then SIGTERM, then SIGKILL. At most about 2.5 s. */
  stop(): Promise<void>;
  /** Ends the whole group at once. */
  kill(): Promise<void>;
}

/** Starts a program with no shell. What it writes to stderr goes to the tail; the caller reads stdout to its end. */
export function startProcess(
  command: readonly string[],
  options: {
    cwd: string;
    env: Record<string, string>;
    tail: OutputTail;
    clock: Clock;
    /** Ends the program's group should this process be killed; null for no watchdog. */
    watchdog?: Pick<Watchdog, 'add' | 'remove'>;
    /** Null for none. */
    sandbox?: Sandbox | null;
    /** Remembers what the program starts; null for no memory. */
    descendants?: DescendantLog | null;
    /** Whether the program reads its stdin, so that closing it is the polite way to ask; else it gets SIGTERM at once. */
    readsStdin: boolean;
  },
): ServerProcess {
  const { clock } = options;
  const waitAtMost = (promise: Promise<unknown>, afterMs: number) =>
    race(promise, { timeout: { clock, afterMs, onTimeout: () => {} } });
  const start = prepareStart(command, options);
  const [file = '', ...args] = start.command;
  const child = (isAbsolute(file) ? spawnProgram : spawnByName)(file, args, {
    cwd: start.cwd,
    env: start.env,
    stdio: ['pipe', 'pipe', 'pipe', ...start.stdio],
    // A group of its own lets one signal reach every descendant. On Windows the flag would open a console window.
    detached: process.platform !== 'win32',
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new TypeError('A child was started without pipes.');
  const lease = start.isSandboxed ? holdSandbox(child) : null;
  if (child.pid !== undefined) {
    options.watchdog?.add(child.pid);
    options.descendants?.follow(child.pid);
  }
  const ownOutput = createOutputTail(ownOutputBytes);
  const addOutput = (chunk: Buffer) => {
    options.tail.append(chunk);
    ownOutput.append(chunk);
  };
  stderr.on('data', addOutput);
  // A program that dies leaves broken pipes behind; its exit is reported, the pipes need not be.
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});

  const ended = new Promise<Omit<ProcessExit, 'lastLines'>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error: start.error ?? error });
    });
  });
  const outputs = [stdout, stderr];
  const outputEnded = Promise.all(
    outputs.map((stream) => new Promise<void>((resolve) => void stream.once('close', () => resolve()))),
  );
  const exited = ended.then(async (exit): Promise<ProcessExit> => {
    if (child.pid !== undefined) await waitAtMost(outputEnded, outputDrainMs);
    for (const stream of outputs) stream.destroy();
    if (child.pid !== undefined) options.descendants?.forget(child.pid);
    const lastLines = keepLastLines(ownOutput.readLines(lastLinesRead));
    const isFailure = lease !== null && !lease.hasStarted && !isEnding;
    return isFailure
      ? { code: null, signal: null, error: createSandboxFailure(exit), lastLines }
      : { ...exit, lastLines };
  });

  let isEnding = false;
  const stopGroup = async () => {
    isEnding = true;
    const groupId = child.pid;
    stdin.end();
    if (groupId === undefined) return;
    options.descendants?.look();
    if (options.readsStdin) await waitAtMost(ended, stdinGraceMs);
    await lease?.terminate(clock, terminateGraceMs);
    lease?.release();
    if (isGroupAlive(groupId)) {
      if (lease === null) signalGroup(groupId, 'SIGTERM');
      if (!(await waitForGroupEnd(clock, groupId, terminateGraceMs))) await killGroup();
    }
    options.watchdog?.remove(groupId);
  };
  const killGroup = async () => {
    isEnding = true;
    if (child.pid === undefined) return;
    options.descendants?.look();
    signalGroup(child.pid, 'SIGKILL');
    lease?.release();
    await waitAtMost(ended, terminateGraceMs);
    if (await waitForGroupEnd(clock, child.pid, terminateGraceMs)) options.watchdog?.remove(child.pid);
  };
  let stopping: Promise<void> | undefined;
  return {
    pid: child.pid,
    stdin,
    stdout,
    addOutput,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    exited,
    stop: () => (stopping ??= stopGroup()),
    kill: killGroup,
  };
}

interface PreparedStart {
  command: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** After stdin, stdout and stderr. */
  stdio: Array<'pipe' | 'ignore' | number>;
  isSandboxed: boolean;
  /** Why the program cannot be started. */
  error?: NodeJS.ErrnoException;
}

/** A path that cannot be: what is to be started is not there, and a server that runs could make it. */
const nothing = '/proc/self/nothing';

function prepareStart(
  command: readonly string[],
  { cwd, env, sandbox = null }: { cwd: string; env: Record<string, string>; sandbox?: Sandbox | null },
): PreparedStart {
  if (sandbox === null) return { command, cwd, env, stdio: [], isSandboxed: false };
  try {
    const { descriptors, ...wrapped } = sandbox.wrap(command, { cwd, env });
    // The sandbox is entered from a directory that is always there, and the server's own only through its mounts.
    return { ...wrapped, cwd: '/', stdio: ['pipe', ...descriptors], isSandboxed: true };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { command: [nothing], cwd: '/', env, stdio: [], isSandboxed: false, error };
  }
}

/** The programs that make the sandbox ended, not the server. */
function createSandboxFailure({ code, signal }: { code: number | null; signal: NodeJS.Signals | null }): Error {
  return new Error(`The sandbox of the process could not be made (${code === null ? signal : `exit code ${code}`}).`);
}
