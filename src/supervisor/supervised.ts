import { subscribe } from 'node:diagnostics_channel';
import { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { sendSignal } from '../server/process-tree.ts';
import {
  type FallbackReport,
  type GateMessage,
  type StopSignal,
  stopSignals,
  supervisedVariable,
  type SupervisorMessage,
} from './messages.ts';

/** The gate's side of its supervisor. Without one, nothing is sent anywhere. */
export interface Supervision {
  /** Signals, whether they come to this process or by the supervisor. */
  readonly signals: { on: (name: StopSignal, listener: (name: StopSignal) => void) => void };
  /** Put into the environment of every process that the gate starts. Null without a supervisor. */
  readonly marker: string | null;
  /** From here on there must be a verdict within `dueInMs`; `fallback` is written where there is none. */
  planned: (dueInMs: number, fallback: FallbackReport) => void;
  /** The verdict is there. */
  judged: () => void;
  /** Resolves when the process may exit with this code. */
  done: (exitCode: number) => Promise<number>;
}

const beatIntervalMs = 1000;

/** Joins the supervisor that started this process. For the entries, once. */
export function joinSupervisor(): Supervision {
  const marker = process.env[supervisedVariable];
  delete process.env[supervisedVariable];
  if (process.send === undefined || marker === undefined) {
    return {
      signals: { on: (name, listener) => void process.on(name, () => listener(name)) },
      marker: null,
      planned: () => {},
      judged: () => {},
      done: async (exitCode) => exitCode,
    };
  }
  // A supervisor that is gone is noticed as such.
  const send = (message: GateMessage) => void process.send?.(message, undefined, undefined, () => {});
  sendBeats(send);
  sendGroups(send);
  const signals = mergeSignals();
  // None of this keeps a gate running that is over.
  process.channel?.unref();
  return {
    marker,
    signals,
    planned: (dueInMs, fallback) => send({ kind: 'planned', dueInMs, fallback }),
    judged: () => send({ kind: 'judged' }),
    done: (exitCode) =>
      new Promise((resolve) => {
        if (process.connected)
          process.send?.({ kind: 'done', exitCode }, undefined, undefined, () => resolve(exitCode));
        else resolve(exitCode);
      }),
  };
}

function sendBeats(send: (message: GateMessage) => void): void {
  const readRss = process.platform === 'linux' ? () => null : () => process.memoryUsage.rss();
  const supervisor = process.ppid;
  // As the supervisor does for the gate: either one that was halted goes on.
  const continueSupervisor = () => {
    if (process.platform !== 'win32' && process.ppid === supervisor) sendSignal(supervisor, 'SIGCONT');
  };
  setInterval(() => {
    send({ kind: 'beat', rssBytes: readRss() });
    continueSupervisor();
  }, beatIntervalMs).unref();
  // Halted since the last beat, it would never see that the gate has ended.
  process.on('exit', continueSupervisor);
}

/** Every process that is started may lead a group; a number that is none is no group to end, either. */
function sendGroups(send: (message: GateMessage) => void): void {
  subscribe('child_process', (event) => {
    if (!isProcessEvent(event)) return;
    const child = event.process;
    child.once('spawn', () => {
      if (child.pid !== undefined) send({ kind: 'group', id: child.pid, isAlive: true });
    });
    child.once('close', () => {
      if (child.pid !== undefined) send({ kind: 'group', id: child.pid, isAlive: false });
    });
  });
}

function isProcessEvent(event: unknown): event is { process: ChildProcess } {
  return typeof event === 'object' && event !== null && 'process' in event && event.process instanceof ChildProcess;
}

/**
 * Joins the signals of this process with those that the supervisor passes on. Both get the one that a terminal sends, and
 * either alone the one that a runner or a person sends, so that the larger count is the number of requests.
 */
function mergeSignals(): Supervision['signals'] {
  const listeners = new Map<StopSignal, Array<() => void>>();
  const counts = new Map(stopSignals.map((name) => [name, { direct: 0, passedOn: 0, seen: 0 }]));
  const count = (name: StopSignal, way: 'direct' | 'passedOn') => {
    const found = counts.get(name);
    if (found === undefined) return;
    found[way] += 1;
    if (found[way] <= found.seen) return;
    found.seen = found[way];
    const called = listeners.get(name);
    // As Node does with a signal that has no listener.
    if (called === undefined) process.exit(128 + constants.signals[name]);
    for (const listener of called) listener();
  };
  process.on('message', (message: SupervisorMessage) => {
    if (message.kind === 'signal') count(message.name, 'passedOn');
  });
  process.once('disconnect', () => {
    // With the supervisor, the readers of the output may be gone, which must not keep the gate from clearing up.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
    count('SIGTERM', 'direct');
  });
  return {
    on: (name, listener) => {
      const known = listeners.get(name);
      if (known === undefined) process.on(name, () => count(name, 'direct'));
      listeners.set(name, [...(known ?? []), () => listener(name)]);
    },
  };
}
