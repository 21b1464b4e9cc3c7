import { spawn } from 'node:child_process';

import type { Clock } from '../base/time.ts';
import { listProcesses, readProcess } from './process-table.ts';

const pollIntervalMs = 20;

/** Whether any process of the group still runs. Zombies do not count where /proc can tell them apart. */
export function isGroupAlive(groupId: number): boolean {
  if (!sendSignal(-groupId, 0)) return false;
  if (process.platform !== 'linux') return true;
  // The leader first: it is mostly what still runs, and the whole table takes milliseconds to read.
  if (readProcess(groupId)?.groupId === groupId) return true;
  return listProcesses().some((entry) => entry.groupId === groupId);
}

/** Sends the signal to every process of the group; a group that is gone is no error. */
export function signalGroup(groupId: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    // Windows has no process groups and no polite signal: its own tool ends the tree in one way only.
    spawn('taskkill', ['/T', '/F', '/PID', String(groupId)], { stdio: 'ignore' }).on('error', () => {});
    return;
  }
  sendSignal(-groupId, signal);
}

/** Waits until the group is gone; false when it still runs after `timeoutMs`. */
export async function waitForGroupEnd(clock: Clock, groupId: number, timeoutMs: number): Promise<boolean> {
  const endsAtMs = clock.monotonicMs() + timeoutMs;
  while (isGroupAlive(groupId)) {
    if (clock.monotonicMs() >= endsAtMs) return false;
    await clock.sleep(pollIntervalMs);
  }
  return true;
}

/** Sends a signal to a process, or to a group by its negated id; 0 only asks. False where there is none that this process may signal. */
export function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    // ESRCH: gone. EPERM: only zombies are left (macOS), or this process may not signal it.
    return false;
  }
}
