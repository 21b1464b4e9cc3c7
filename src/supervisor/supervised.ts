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
} from './supervisor-messages.ts';

/** The gate's connection to its supervisor. Without a supervisor, it sends nothing. */
export interface Supervision {
  /** Signals that this process receives directly or from the supervisor. */
  readonly signals: { on: (name: StopSignal, listener: (name: StopSignal) => void) => void };
  /** Put into the environment of every process that the gate starts. Null without a supervisor. */
  readonly marker: string | null;
  /** From now on a verdict must follow within `dueInMs`; otherwise the supervisor writes `fallback`. */
  planned: (dueInMs: number, fallback: FallbackReport) => void;
  /** The verdict exists. */
  judged: () => void;
  /** Resolves when the process may exit with this code. */
  done: (exitCode: number) => Promise<number>;
}

const beatIntervalMs = 1000;

/** Connects to the supervisor that started this process. Entries call it once. */
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
  // A missing supervisor is noticed by the disconnect, so errors are ignored.
  const send = (message: GateMessage) => void process.send?.(message, undefined, undefined, () => {});
  sendBeats(send);
  sendGroups(send);
  const signals = mergeSignals();
  // The channel must not keep a finished gate running.
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
  // The supervisor does the same for the gate: each continues the other if it was stopped.
  const continueSupervisor = () => {
    if (process.platform !== 'win32' && process.ppid === supervisor) sendSignal(supervisor, 'SIGCONT');
  };
  setInterval(() => {
    send({ kind: 'beat', rssBytes: readRss() });
    continueSupervisor();
  }, beatIntervalMs).unref();
  // A supervisor that was stopped since the last beat would never see that the gate has ended.
  process.on('exit', continueSupervisor);
}

/** Every started process may lead a group. An id that leads none does no harm: there is no group to end. */
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
 * Joins the signals of this process with those that the supervisor passes on. A terminal sends its signal to both processes, a runner or
 * a person to one of them. So the larger of the two counts is the number of requests.
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
    // Node does the same with a signal that has no listener.
    if (called === undefined) process.exit(128 + constants.signals[name]);
    for (const listener of called) listener();
  };
  process.on('message', (message: SupervisorMessage) => {
    if (message.kind === 'signal') count(message.name, 'passedOn');
  });
  process.once('disconnect', () => {
    // The readers of the output may be gone with the supervisor; a write error must not keep the gate from cleaning up.
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
