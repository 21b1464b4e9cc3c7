import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

import type { Clock } from '../base/clock.ts';
import { isGroupAlive, signalGroup, waitForGroupEnd } from './group.ts';
import { keepLastLines } from './last-lines.ts';
import { createOutputRing } from './ring.ts';
import type { OutputRing } from './ring.ts';
import type { Watchdog } from './watchdog.ts';

/** How long a server may take to leave after its stdin closed, and then after SIGTERM. Fits twice into a runner's 7.5 s. */
const stdinGraceMs = 1500;
const terminateGraceMs = 1000;

/** After the process is gone, descendants may hold its stdout open; what is still in the pipe is read for this long. */
const outputDrainMs = 250;

/** Of one process; the ring that all processes of a server share keeps more. */
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

/** Starts a program with no shell. What it writes to stderr goes to the ring; the caller reads stdout to its end. */
export function startProcess(
  command: readonly string[],
  options: {
    cwd: string;
    env: Record<string, string>;
    ring: OutputRing;
    clock: Clock;
    /** Ends the program's group should this process be killed; null for no watchdog. */
    watchdog?: Pick<Watchdog, 'add' | 'remove'>;
    /** Whether the program reads its stdin, so that closing it is the polite way to ask; else it gets SIGTERM at once. */
    readsStdin: boolean;
  },
): ServerProcess {
  const { clock } = options;
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own lets one signal reach every descendant. On Windows the flag would open a console window.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  if (child.pid !== undefined) options.watchdog?.add(child.pid);
  const ownOutput = createOutputRing(ownOutputBytes);
  const addOutput = (chunk: Buffer) => {
    options.ring.append(chunk);
    ownOutput.append(chunk);
  };
  child.stderr.on('data', addOutput);
  // A program that dies leaves broken pipes behind; its exit is reported, the pipes need not be.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});

  const ended = new Promise<Omit<ProcessExit, 'lastLines'>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
  const outputEnded = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const exited = ended.then(async (exit): Promise<ProcessExit> => {
    if (child.pid !== undefined) await waitAtMost(clock, outputEnded, outputDrainMs);
    child.stdout.destroy();
    child.stderr.destroy();
    return { ...exit, lastLines: keepLastLines(ownOutput.readLines(lastLinesRead)) };
  });

  const stopGroup = async () => {
    const groupId = child.pid;
    child.stdin.end();
    if (groupId === undefined) return;
    if (options.readsStdin) await waitAtMost(clock, ended, stdinGraceMs);
    if (isGroupAlive(groupId)) {
      signalGroup(groupId, 'SIGTERM');
      if (!(await waitForGroupEnd(clock, groupId, terminateGraceMs))) await killGroup();
    }
    options.watchdog?.remove(groupId);
  };
  const killGroup = async () => {
    if (child.pid === undefined) return;
    signalGroup(child.pid, 'SIGKILL');
    await waitAtMost(clock, ended, terminateGraceMs);
    if (await waitForGroupEnd(clock, child.pid, terminateGraceMs)) options.watchdog?.remove(child.pid);
  };
  let stopping: Promise<void> | undefined;
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    addOutput,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    exited,
    stop: () => (stopping ??= stopGroup()),
    kill: killGroup,
  };
}

/** Waits for the promise, but no longer than `timeoutMs`. */
async function waitAtMost(clock: Clock, promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  const timer = new AbortController();
  const timeout = clock.sleep(timeoutMs, { signal: timer.signal }).catch(() => {});
  await Promise.race([promise, timeout]);
  timer.abort();
}
