import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';

import type { Clock } from '../../base/clock.ts';
import { signalGroup } from '../group.ts';
import { listDescendants, listProcesses } from '../process-table.ts';
import type { ProcessEntry } from '../process-table.ts';
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
  const release = child.stdio[releaseDescriptor];
  release?.on('error', () => {});
  release?.once('data', () => {
    hasStarted = true;
  });
  // Holding it must not keep this process from its end, which releases the sandbox as well.
  if (release instanceof Socket) release.unref();
  const listServer = (): ProcessEntry[] => {
    const isWrapper = ({ groupId }: ProcessEntry) => groupId === child.pid;
    return listDescendants(listProcesses(), isWrapper);
  };
  return {
    get hasStarted() {
      return hasStarted;
    },
    terminate: async (clock, graceMs) => {
      const endsAtMs = clock.monotonicMs() + graceMs;
      const groups = new Set(listServer().map(({ groupId }) => groupId));
      for (const groupId of groups) signalGroup(groupId, 'SIGTERM');
      while (groups.size > 0 && listServer().length > 0 && clock.monotonicMs() < endsAtMs) {
        await clock.sleep(pollIntervalMs);
      }
    },
    release: () => void release?.destroy(),
  };
}
