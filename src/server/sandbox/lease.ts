import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Clock } from '../../base/time.ts';
import { signalGroup, listChildren, listDescendants, listProcesses, readProcess } from '../process-tree.ts';
import type { ProcessEntry } from '../process-tree.ts';
import { releaseDescriptor } from './scripts.ts';

const pollIntervalMs = 20;

/** The sandbox of one process, from outside of it. */
export interface SandboxLease {
  /** Whether the program itself was started; false while, and where, the sandbox was not made. */
  readonly hasStarted: boolean;
  /** Sends SIGTERM to everything that the program is and has started, and waits until it is gone, at most `graceMs`. */
  terminate(clock: Clock, graceMs: number): Promise<void>;
  /** Lets the kernel end everything that is left in the sandbox. */
  release(): void;
}

/**
 * Holds the sandbox of a child that was started with a wrapped command. The child and the first process of the namespace share its
 * process group; what runs in the sandbox descends from them and is in other groups.
 */
export function holdSandbox(child: ChildProcess): SandboxLease {
  let hasStarted = false;
  /** The child and what it starts itself: the first process of the namespace, and the parent of the program. */
  let wrappers: number[] = [];
  const release = child.stdio[releaseDescriptor];
  release?.on('error', () => {});
  release?.once('data', () => {
    hasStarted = true;
    if (child.pid !== undefined) wrappers = [child.pid, ...listChildren(child.pid)];
  });
  // Holding it must not keep this process from its end, which releases the sandbox as well.
  if (release instanceof Socket) release.unref();
  const isWrapper = (entry: ProcessEntry | null) => entry?.groupId === child.pid;
  const listServer = (): ProcessEntry[] => {
    // A set is walked with what is added to it meanwhile.
    const parents = new Set(wrappers.filter((pid) => isWrapper(readProcess(pid))));
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
    terminate: async (clock, graceMs) => {
      const endsAtMs = clock.monotonicMs() + graceMs;
      // While the program runs it must not be missed; afterwards the cheap list does.
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
