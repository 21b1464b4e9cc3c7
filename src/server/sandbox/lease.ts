import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Clock } from '../../base/time.ts';
import {
  listChildren,
  listDescendants,
  listProcesses,
  type ProcessEntry,
  readProcess,
  signalGroup,
} from '../process-tree.ts';
import { releaseDescriptor } from './scripts.ts';

const pollIntervalMs = 20;

/** Controls the sandbox of one process from outside. */
export interface SandboxLease {
  /** True if the program itself has started; false until the sandbox is made, and if that fails. */
  readonly hasStarted: boolean;
  /**
   * Lists the processes in the group of the child: those that make the sandbox. Some of them may have ended. The last one of the sandbox
   * ends after all others in it. Null while the sandbox is made.
   */
  readonly listWrappers: () => readonly number[] | null;
  /** Sends SIGTERM to the program and everything that it has started, and waits until they have ended, at most `graceMs`. */
  terminate(clock: Clock, graceMs: number): Promise<void>;
  /** Makes the kernel end everything that is left in the sandbox. */
  release(): void;
}

/**
 * Controls the sandbox of a child that was started with a wrapped command. The child and the first process of the namespace share a
 * process group; the processes in the sandbox descend from them and are in other groups.
 */
export function holdSandbox(child: ChildProcess): SandboxLease {
  let hasStarted = false;
  /** The child and its direct children: the first process of the namespace, and the parent of the program. */
  let wrappers: number[] | null = null;
  const release = child.stdio[releaseDescriptor];
  release?.on('error', () => {});
  release?.once('data', () => {
    hasStarted = true;
    if (child.pid !== undefined) wrappers = [child.pid, ...listChildren(child.pid)];
  });
  // The open descriptor must not keep this process running. The sandbox ends with this process, too.
  if (release instanceof Socket) release.unref();
  const isWrapper = (entry: ProcessEntry | null) => entry?.groupId === child.pid;
  const listServer = (): ProcessEntry[] => {
    // The loop also visits entries that are added to the Set meanwhile.
    const parents = new Set((wrappers ?? []).filter((pid) => isWrapper(readProcess(pid))));
    const found: ProcessEntry[] = [];
    for (const parent of parents) {
      for (const pid of listChildren(parent)) {
        if (parents.has(pid)) continue;
        parents.add(pid);
        const entry = readProcess(pid);
        if (entry !== null && !isWrapper(entry)) found.push(entry);
      }
    }
    return found;
  };
  return {
    get hasStarted() {
      return hasStarted;
    },
    listWrappers: () => wrappers,
    terminate: async (clock, graceMs) => {
      const endsAtMs = clock.monotonicMs() + graceMs;
      // While the program runs, the complete list ensures that it is found; afterwards the cheap list suffices.
      const isRunning = () => child.exitCode === null && child.signalCode === null;
      const running = isRunning() ? listDescendants(listProcesses(), isWrapper) : listServer();
      const groups = new Set(running.filter((entry) => !isWrapper(entry)).map(({ groupId }) => groupId));
      for (const groupId of groups) signalGroup(groupId, 'SIGTERM');
      const isAlive = () => groups.size > 0 && (isRunning() || listServer().length > 0);
      while (isAlive() && clock.monotonicMs() < endsAtMs) await clock.sleep(pollIntervalMs);
    },
    release: () => void release?.destroy(),
  };
}
