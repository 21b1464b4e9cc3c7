import { isAbsolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Clock, race } from '../base/time.ts';
import type { OutputLine } from '../model/process-end.ts';
import type { DescendantLog } from './kill-orphans.ts';
import { createTimedOutput, keepLastLines, type OutputTail } from './output-tail.ts';
import { isGroupAlive, signalGroup, waitForGroupEnd } from './process-tree.ts';
import { holdSandbox } from './sandbox/lease.ts';
import type { Sandbox } from './sandbox/open-sandbox.ts';
import { lookForInput, spawnByName, spawnProgram } from './spawn.ts';
import type { Watchdog } from './watchdog.ts';

/** The grace periods of a server after its stdin closes, and then after SIGTERM. Together they fit twice into a runner's 7.5 s. */
const stdinGraceMs = 1500;
const terminateGraceMs = 1000;

/** After the process has ended, descendants may hold its stdout open; the rest of the pipe is read for this long. */
const outputDrainMs = 250;

/** The output that is kept of one process; the tail that all processes of a server share keeps more. */
const ownOutputBytes = 16 * 1024;
const lastLinesRead = 50;

export interface ProcessExit {
  /** Null after a signal, or if the process could not be started. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The reason why it could not be started. */
  error?: NodeJS.ErrnoException;
  /** True if it is a server object of this process, which closed its session. */
  isClosed?: true;
  /** The last lines of its output, oldest first, within the limits of a report. */
  lastLines: readonly string[];
}

/** A started program that leads its own process group. */
export interface ServerProcess {
  /** The id of the program, or of the program that makes its sandbox; undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Adds a part of stdout that is no message to the process's stderr output. */
  addOutput(chunk: Buffer): void;
  /** Returns the last lines of that output, oldest first. */
  readOutput(): readonly OutputLine[];
  /** True if the program has ended, even if some of its output is unread. */
  readonly hasEnded: boolean;
  /** Resolves once the program has ended and its output is read. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /**
   * Ends the whole group in steps: closes stdin (and waits, if the program reads it), then SIGTERM, then SIGKILL. Takes at most about 2.5
   * s.
   */
  stop(): Promise<void>;
  /** Ends the whole group at once. */
  kill(): Promise<void>;
}

/** Starts a program without a shell. Its stderr goes to the tail; the caller reads stdout to its end. */
export function startProcess(
  command: readonly string[],
  options: {
    cwd: string;
    env: Record<string, string>;
    tail: OutputTail;
    clock: Clock;
    /** Ends the program's group if this process is killed; without it there is no watchdog. */
    watchdog?: Pick<Watchdog, 'add' | 'remove'>;
    /** Null starts it without a sandbox. */
    sandbox?: Sandbox | null;
    /** Records the processes that the program starts; null records none. */
    descendants?: DescendantLog | null;
    /** True if the program reads its stdin, so that closing it asks the program to exit; else it gets SIGTERM at once. */
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
    // In its own group, one signal reaches every descendant. On Windows the flag would open a console window.
    detached: process.platform !== 'win32',
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new TypeError('A child was started without pipes.');
  const lease = start.isSandboxed ? holdSandbox(child) : null;
  if (child.pid !== undefined) {
    options.watchdog?.add(child.pid);
    options.descendants?.follow(child.pid);
  }
  const ownOutput = createTimedOutput(clock, ownOutputBytes);
  const addOutput = (chunk: Buffer) => {
    options.tail.append(chunk);
    ownOutput.append(chunk);
  };
  stderr.on('data', addOutput);
  // A program that dies leaves broken pipes. Its exit is reported, so errors of the pipes need not be.
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
    if (child.pid !== undefined) {
      await waitAtMost(outputEnded, outputDrainMs);
      await lookForInput();
    }
    for (const stream of outputs) stream.destroy();
    if (child.pid !== undefined) options.descendants?.forget(child.pid);
    const lastLines = keepLastLines(ownOutput.readLines(lastLinesRead).map(({ text }) => text));
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
    if (lease !== null || isGroupAlive(groupId)) {
      if (lease === null) signalGroup(groupId, 'SIGTERM');
      if (!(await waitForGroupEnd(clock, groupId, terminateGraceMs, lease?.listWrappers))) await killGroup();
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
    if (await waitForGroupEnd(clock, child.pid, terminateGraceMs, lease?.listWrappers))
      options.watchdog?.remove(child.pid);
  };
  let stopping: Promise<void> | undefined;
  return {
    pid: child.pid,
    stdin,
    stdout,
    addOutput,
    readOutput: () => ownOutput.readLines(Infinity),
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
  /** The descriptors after stdin, stdout and stderr. */
  stdio: Array<'pipe' | 'ignore' | number>;
  isSandboxed: boolean;
  /** The reason why the program cannot be started. */
  error?: NodeJS.ErrnoException;
}

/** A path that cannot exist. Spawning the missing program itself would be unsafe, since a running server could create it meanwhile. */
const nothing = '/proc/self/nothing';

function prepareStart(
  command: readonly string[],
  { cwd, env, sandbox = null }: { cwd: string; env: Record<string, string>; sandbox?: Sandbox | null },
): PreparedStart {
  if (sandbox === null) return { command, cwd, env, stdio: [], isSandboxed: false };
  try {
    const { descriptors, ...wrapped } = sandbox.wrap(command, { cwd, env });
    // The sandbox starts in a directory that always exists; the server's own directory is entered through the mounts of the sandbox.
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
