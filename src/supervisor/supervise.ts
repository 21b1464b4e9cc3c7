import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { constants as systemConstants } from 'node:os';
import { writeOutput } from '../base/output-files.ts';
import { systemClock } from '../base/time.ts';
import { signalGroup } from '../server/process-tree.ts';
import { spawnProgram } from '../server/spawn.ts';
import { listMarkers } from '../server/environment.ts';
import { stopMarkedProcesses } from '../server/kill-orphans.ts';
import { hideEnvironment, splitEnvironment } from './environment.ts';
import {
  causePlaceholder,
  type FallbackReport,
  type GateMessage,
  stopSignals,
  supervisedVariable,
} from './supervisor-messages.ts';

export interface SupervisorLimits {
  /** Resident memory of the gate. 100,000 iterations need less than 400 MB. */
  memoryBytes: number;
  /** The longest time that the event loop of a gate may block while it plans or publishes. */
  silenceMs: number;
  /** The longest time that a gate may take to exit after the first signal; GitHub's runner waits for 7.5 s. */
  leaveMs: number;
}

const defaultLimits: SupervisorLimits = { memoryBytes: 1024 * 1024 * 1024, silenceMs: 60_000, leaveMs: 6000 };

const checkIntervalMs = 100;

/** The grace period for processes of the server after the gate was ended. */
const sweepGraceMs = 500;

/** The exit codes of the gate itself. Any other code means that it did not end on purpose. */
const ownExitCodes: ReadonlySet<number> = new Set([0, 1, 2, 3, 129, 130, 131, 143]);

/**
 * Runs this program again as the gate, in a process whose environment shows no secret, and returns the exit code. If the gate passes its
 * deadline, takes too much memory or crashes, the supervisor ends it with everything it started, and writes a report of that: exit code
 * 3.
 */
export async function supervise({
  print,
  limits = defaultLimits,
}: {
  print: (line: string) => void;
  limits?: SupervisorLimits;
}): Promise<number> {
  const marker = randomUUID();
  const { visible, hidden } = splitEnvironment(process.env);
  const [script = '', ...args] = process.argv.slice(1);
  const gate = spawnProgram(process.execPath, [...process.execArgv, '--disable-sigusr1', script, ...args], {
    env: { ...visible, [supervisedVariable]: '1' },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // A gate that has ended receives nothing; its end decides anyway, so errors are ignored.
  const send = (message: object) => void gate.send(message, () => {});
  send({ kind: 'start', environment: hidden, marker });
  // This happens while the gate's process starts.
  hideEnvironment();

  const watched = watch(gate, limits);
  for (const name of stopSignals) {
    process.on(name, () => {
      send({ kind: 'signal', name });
      watched.leave(128 + systemConstants.signals[name]);
    });
  }
  const end = await watched.ended;
  if ('exitCode' in end) return end.exitCode;
  for (const id of watched.groups) signalGroup(id, 'SIGKILL');
  const options = { graceMs: sweepGraceMs, clock: systemClock };
  await Promise.all(listMarkers(marker).map((each) => stopMarkedProcesses(each, options)));
  if (end.signalExitCode !== null) return end.signalExitCode;
  print(`Error: ${end.cause} The verdict is inconclusive.`);
  const fallback = watched.fallback();
  if (fallback !== null) writeFallback(fallback, end.cause);
  return 3;
}

type End = { exitCode: number } | { cause: string; signalExitCode: number | null };

interface WatchedGate {
  ended: Promise<End>;
  /** The process groups of the server under test that are known to run. */
  groups: ReadonlySet<number>;
  fallback: () => FallbackReport | null;
  /** Ends the gate after `leaveMs` if it does not exit by itself. */
  leave: (exitCode: number) => void;
}

function watch(gate: ChildProcess, limits: SupervisorLimits): WatchedGate {
  const groups = new Set<number>();
  let fallback: FallbackReport | null = null;
  let dueMs = Infinity;
  let isRunning = false;
  let silentChecks = 0;
  let reportedBytes = 0;
  let doneWith: number | null = null;
  let cause: string | null = null;
  let signalExitCode: number | null = null;

  const kill = (why: string) => {
    cause ??= why;
    gate.kill('SIGKILL');
  };
  gate.on('message', (message: GateMessage) => {
    silentChecks = 0;
    switch (message.kind) {
      case 'beat':
        reportedBytes = message.rssBytes ?? 0;
        break;
      case 'planned':
        isRunning = true;
        dueMs = performance.now() + message.dueInMs;
        fallback = message.fallback;
        break;
      case 'judged':
        isRunning = false;
        dueMs = Infinity;
        break;
      case 'group':
        if (message.isAlive) groups.add(message.id);
        else groups.delete(message.id);
        break;
      case 'done':
        doneWith = message.exitCode;
    }
  });
  // Counts checks instead of time: while the machine slept, the gate could not run either.
  const checks = setInterval(() => {
    silentChecks += 1;
    // A process of the same user can stop the gate, and only this continues it.
    if (process.platform !== 'win32') gate.kill('SIGCONT');
    const usedBytes = readMemory(gate.pid) ?? reportedBytes;
    const mebibytes = Math.round(limits.memoryBytes / 1024 / 1024);
    if (usedBytes > limits.memoryBytes) kill(`The gate used more than ${mebibytes} MiB of memory and was ended.`);
    if (performance.now() > dueMs) kill('The gate gave no verdict by its deadline and was ended.');
    if (!isRunning && silentChecks * checkIntervalMs > limits.silenceMs) kill('The gate stood still and was ended.');
  }, checkIntervalMs);

  const ended = new Promise<End>((resolve) => {
    const finish = (end: End) => {
      clearInterval(checks);
      resolve(end);
    };
    gate.once('error', ({ message }) => {
      if (gate.pid === undefined) finish({ cause: `The gate could not be started. ${message}`, signalExitCode: null });
    });
    gate.once('exit', (code, signal) => {
      const stopSignal = stopSignals.find((name) => name === signal);
      if (cause !== null) finish({ cause, signalExitCode });
      else if (stopSignal !== undefined) finish({ exitCode: 128 + systemConstants.signals[stopSignal] });
      // A gate that passes announces it first: an unannounced exit with 0 is no pass.
      else if (code !== null && ownExitCodes.has(code) && (code !== 0 || doneWith === 0)) finish({ exitCode: code });
      else
        finish({ cause: `The gate ended with ${signal ?? `code ${code}`} before it was done.`, signalExitCode: null });
    });
  });
  let leaving: NodeJS.Timeout | undefined;
  return {
    ended,
    groups,
    fallback: () => fallback,
    leave: (exitCode) => {
      leaving ??= setTimeout(() => {
        signalExitCode = exitCode;
        kill('The gate did not leave when it was asked to.');
      }, limits.leaveMs).unref();
    },
  };
}

/** Reads the resident memory from proc_pid_status(5); null if there is no /proc. */
function readMemory(pid: number | undefined): number | null {
  try {
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  } catch {
    return null;
  }
}

/** Writes the report that the gate prepared for its own end. Skips files that cannot be written: the exit code says enough. */
export function writeFallback({ files, stdout }: FallbackReport, cause: string): void {
  const fill = (text: string) => text.replaceAll(causePlaceholder, cause);
  for (const { path, root, text, mode } of files) {
    try {
      writeOutput(path, fill(text), { root, mode });
    } catch {
      // The others may still be written.
    }
  }
  if (stdout !== '') writeSync(1, fill(stdout));
}
