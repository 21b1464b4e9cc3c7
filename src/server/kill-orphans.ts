import type { Clock } from '../base/time.ts';
import { markerVariable } from './environment.ts';
import {
  hasEnvironmentEntry,
  isGroupAlive,
  listChildren,
  listProcesses,
  type ProcessEntry,
  readProcess,
  sendSignal,
  signalGroup,
  waitForGroupEnd,
} from './process-tree.ts';

/**
 * Stops every process that has the session marker in its environment, including those that left their process group. Resolves to the
 * number of processes found. Sends SIGTERM first, and SIGKILL after `graceMs`. Finds none if there is no /proc.
 */
export async function stopMarkedProcesses(marker: string, options: { graceMs: number; clock: Clock }): Promise<number> {
  const found = listMarkedProcesses(marker);
  const groupIds = [...new Set(found.map((entry) => entry.groupId))];
  for (const groupId of groupIds) signalGroup(groupId, 'SIGTERM');
  const ends = await Promise.all(groupIds.map((groupId) => waitForGroupEnd(options.clock, groupId, options.graceMs)));
  if (ends.includes(false)) {
    for (const groupId of groupIds.filter(isGroupAlive)) signalGroup(groupId, 'SIGKILL');
    await Promise.all(groupIds.map((groupId) => waitForGroupEnd(options.clock, groupId, options.graceMs)));
  }
  return found.length;
}

function listMarkedProcesses(marker: string): ProcessEntry[] {
  const assignment = `${markerVariable}=${marker}`;
  const processes = listProcesses();
  // A signal to the gate's own group would end the gate and the process that started it; kill(2) reads 0 and -1 as several processes.
  const ownGroupId = processes.find((entry) => entry.pid === process.pid)?.groupId;
  const isSafe = ({ groupId }: ProcessEntry) => groupId > 1 && groupId !== ownGroupId;
  return processes.filter((entry) => isSafe(entry) && hasEnvironmentEntry(entry.pid, assignment));
}

/** A daemon that leaves its parent within this time may be missed. One check takes about 0.1 ms for each process of the server. */
const lookIntervalMs = 100;

const pollIntervalMs = 20;

/** Records the processes that a server's processes start, so that they can be ended after their parents have ended. */
export interface DescendantLog {
  /** Starts to record the descendants of this process. */
  follow(pid: number): void;
  /** Stops recording below this process, which has ended: its id may belong to another process. */
  forget(pid: number): void;
  /** Checks now: the descendants of a process can be found only while it lives. */
  look(): void;
  /** Lists the ids of the processes that still run. */
  list(): number[];
  /** Ends the processes that still run: SIGTERM, then SIGKILL after `graceMs`. Resolves to their number. */
  end(options: { graceMs: number; clock: Clock }): Promise<number>;
}

/** Does nothing on platforms other than Linux, which do not list processes in /proc. */
export function logDescendants(platform: NodeJS.Platform = process.platform): DescendantLog {
  const roots = new Set<number>();
  const remembered = new Map<string, ProcessEntry>();
  let timer: NodeJS.Timeout | undefined;

  const identify = ({ pid, startedAt }: ProcessEntry) => `${pid} ${startedAt}`;
  const look = () => {
    if (platform !== 'linux' || (roots.size === 0 && remembered.size === 0)) return;
    for (const [key, { pid }] of remembered) {
      const now = readProcess(pid);
      if (now === null || identify(now) !== key) remembered.delete(key);
    }
    // The loop also visits entries that are added to the Set meanwhile.
    const parents = new Set([...roots, ...Array.from(remembered.values(), ({ pid }) => pid)]);
    for (const parent of parents) {
      for (const child of listChildren(parent)) {
        const entry = readProcess(child);
        if (entry === null) continue;
        remembered.set(identify(entry), entry);
        parents.add(child);
      }
    }
  };
  const listAlive = () => {
    look();
    return [...remembered.values()];
  };
  const signal = (entries: readonly ProcessEntry[], name: NodeJS.Signals) => {
    for (const { pid } of entries) sendSignal(pid, name);
  };
  const waitForEnd = async (clock: Clock, timeoutMs: number) => {
    const endsAtMs = clock.monotonicMs() + timeoutMs;
    while (listAlive().length > 0 && clock.monotonicMs() < endsAtMs) await clock.sleep(pollIntervalMs);
  };
  return {
    follow: (pid) => {
      roots.add(pid);
      if (platform === 'linux') timer ??= setInterval(look, lookIntervalMs).unref();
    },
    forget: (pid) => {
      roots.delete(pid);
      if (roots.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
    look,
    list: () => listAlive().map(({ pid }) => pid),
    end: async ({ graceMs, clock }) => {
      const found = listAlive();
      signal(found, 'SIGTERM');
      await waitForEnd(clock, graceMs);
      signal(listAlive(), 'SIGKILL');
      await waitForEnd(clock, graceMs);
      return found.length;
    },
  };
}
