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
 * Stops every process that carries the session marker in its environment, those that left their process group included, and
 * resolves to how many there were. SIGTERM first, SIGKILL after `graceMs`. Finds nothing where there is no /proc.
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
  // Signalling our own group would end us and whatever started us; 0 and -1 mean everybody to kill(2).
  const ownGroupId = processes.find((entry) => entry.pid === process.pid)?.groupId;
  const isSafe = ({ groupId }: ProcessEntry) => groupId > 1 && groupId !== ownGroupId;
  return processes.filter((entry) => isSafe(entry) && hasEnvironmentEntry(entry.pid, assignment));
}

/** A daemon that leaves its parent sooner than this may be missed. One look takes about 0.1 ms for each process of the server. */
const lookIntervalMs = 100;

const pollIntervalMs = 20;

/** Remembers what the processes of a server start, so that it can be ended when its parents are gone. */
export interface DescendantLog {
  /** What this process starts is remembered until it is ended. */
  follow(pid: number): void;
  /** The process is gone, and its number may be another's. */
  forget(pid: number): void;
  /** Looks at once: while a process lives, what it has started can be found by it. */
  look(): void;
  /** Lists the ids of what still runs. */
  list(): number[];
  /** Ends what still runs: SIGTERM, then SIGKILL after `graceMs`. Resolves to how many there were. */
  end(options: { graceMs: number; clock: Clock }): Promise<number>;
}

/** Does nothing where processes are listed otherwise than in /proc. */
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
    // A set is walked with what is added to it meanwhile.
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
