import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { killQuietly, killTree } from './processes.ts';

/** The time that the runner waits at each stage of a cancellation, and for output after the end of the process. */
export interface RunnerTimings {
  sigintMs: number;
  sigtermMs: number;
  outputMs: number;
}

/** From src/Runner.Sdk/ProcessInvoker.cs. */
export const runnerTimings: RunnerTimings = { sigintMs: 7500, sigtermMs: 2500, outputMs: 5000 };

/** The process of a stage, which a test can control. */
export interface RunningScript {
  /** Sends the signal at once, and only to the process itself. */
  send(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void;
  /** Resolves when the log contains the text. */
  printed(text: string): Promise<void>;
}

export interface ScriptRun {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** The signals that were sent to end it, in order; empty if it ended by itself. */
  sentSignals: Array<'SIGINT' | 'SIGTERM' | 'SIGKILL'>;
  /** The time from the first signal to the end of the process; null if no signal was sent. */
  leaveMs: number | null;
  /** True if another process kept its output open until the runner's time limit. */
  isOutputHeldOpen: boolean;
}

/**
 * Runs a script with this Node as the runner runs an action's: without standard input, and reading both outputs line by line. Once `isCancelDue`
 * returns true, sends SIGINT, then SIGTERM, and then kills the whole tree, each after its time.
 */
export async function runScript(options: {
  script: string;
  cwd: string;
  env: Record<string, string>;
  timings: RunnerTimings;
  onLine: (line: string) => void;
  isCancelDue: () => boolean;
  /** Once it returns true, only the process itself is killed. */
  isKillDue: () => boolean;
  /** Gets the process as soon as it runs. */
  onStart: (script: RunningScript) => void;
}): Promise<ScriptRun> {
  const child = spawn(process.execPath, [options.script], {
    cwd: options.cwd,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run: ScriptRun = { exitCode: null, signal: null, sentSignals: [], leaveMs: null, isOutputHeldOpen: false };
  const { pid } = child;
  if (pid === undefined) throw new Error(`Node could not be started on ${options.script}.`);

  let signalledAtMs: number | null = null;
  const send = (signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL') => {
    signalledAtMs ??= performance.now();
    killQuietly(pid, signal);
  };
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      const leaveMs = signalledAtMs === null ? null : performance.now() - signalledAtMs;
      Object.assign(run, { exitCode, signal, leaveMs });
      resolve();
    });
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  let cancellation: Promise<void> | undefined;
  let log = '';
  const waiting = new Set<() => void>();
  const readLine = (line: string) => {
    options.onLine(line);
    log += `${line}\n`;
    for (const check of waiting) check();
    if (options.isCancelDue()) cancellation ??= cancel();
    else if (options.isKillDue()) send('SIGKILL');
  };
  const cancel = async () => {
    for (const [signal, waitMs] of [
      ['SIGINT', options.timings.sigintMs],
      ['SIGTERM', options.timings.sigtermMs],
    ] as const) {
      run.sentSignals.push(signal);
      send(signal);
      if (await endsWithin(exited, waitMs)) return;
    }
    run.sentSignals.push('SIGKILL');
    killTree(pid);
  };
  options.onStart({
    send: (signal) => {
      run.sentSignals.push(signal);
      send(signal);
    },
    printed: (text) =>
      new Promise((resolve) => {
        const check = () => {
          if (log.includes(text)) resolve();
        };
        waiting.add(check);
        check();
      }),
  });
  readLines(child.stdout, readLine);
  readLines(child.stderr, readLine);
  await exited;
  await cancellation;
  if (!(await endsWithin(closed, options.timings.outputMs))) {
    run.isOutputHeldOpen = true;
    child.stdout.destroy();
    child.stderr.destroy();
  }
  return run;
}

async function endsWithin(event: Promise<void>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  const hasEnded = await Promise.race([
    event.then(() => true),
    sleep(timeoutMs, false, { signal: timer.signal }).catch(() => false),
  ]);
  timer.abort();
  return hasEnded;
}

/** Splits at `\n`, `\r\n` and a single `\r`, as .NET does. Node's readline would also split at U+2028, which the runner keeps. */
function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    // A carriage return at the end of a chunk may be the first half of `\r\n`.
    const parts = (rest + chunk).split(/\r\n|\n|\r(?!$)/);
    rest = parts.pop() ?? '';
    for (const line of parts) onLine(line);
  });
  stream.on('end', () => {
    if (rest !== '') onLine(rest.replace(/\r$/, ''));
  });
}
