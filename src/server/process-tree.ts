import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appendAll } from '../base/lists.ts';
import type { Clock } from '../base/time.ts';
import { spawnProgram } from './spawn.ts';

/** A process as the kernel lists it. */
export interface ProcessEntry {
  pid: number;
  parentId: number;
  groupId: number;
  /** In clock ticks since the machine started: with the pid, it names one process for good. */
  startedAt: string;
}

/**
 * Lists the live processes of this machine from /proc; empty where there is none. Zombies are left out: they run no more,
 * and in a container whose first process does not reap they stay for ever. Fields as in proc_pid_stat(5).
 */
export function listProcesses(): ProcessEntry[] {
  return listPids().flatMap((pid) => readProcess(pid) ?? []);
}

/** The id of the gate's own process. */
export function getOwnPid(): number {
  return process.pid;
}

/** Whether a process of that id runs, this user's or another's. Where /proc is not there, one of another user counts as gone. */
export function isProcessAlive(pid: number): boolean {
  return sendSignal(pid, 0) || readProcess(pid) !== null;
}

/** Reads one process; null where it is gone or a zombie. */
export function readProcess(pid: number): ProcessEntry | null {
  const stat = readProcFile(pid, 'stat');
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parentId, groupId] = fields;
  if (stat === '' || state === 'Z' || state === 'X') return null;
  return { pid, parentId: Number(parentId), groupId: Number(groupId), startedAt: fields[startField] ?? '' };
}

/** Lists what a process has started and what is its child still, which costs much less than listing all processes. */
export function listChildren(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readProcFile(pid, `task/${thread}/children`).split(' ').map(Number).filter(Boolean),
    );
  } catch {
    return [];
  }
}

/** The field `starttime` of proc_pid_stat(5), counted from the one after the program's name. */
const startField = 19;

/** Lists what the processes that `isAncestor` picks have started, and what those have; in no particular order. */
export function listDescendants(
  processes: readonly ProcessEntry[],
  isAncestor: (entry: ProcessEntry) => boolean,
): ProcessEntry[] {
  const found = new Set(processes.filter(isAncestor).map(({ pid }) => pid));
  const descendants: ProcessEntry[] = [];
  let rest = processes.filter(({ pid }) => !found.has(pid));
  for (;;) {
    const next = rest.filter(({ parentId }) => found.has(parentId));
    if (next.length === 0) return descendants;
    for (const entry of next) found.add(entry.pid);
    appendAll(descendants, next);
    rest = rest.filter(({ pid }) => !found.has(pid));
  }
}

/** Whether the process was started with `assignment` (`NAME=value`) in its environment; false if this process may not read it. */
export function hasEnvironmentEntry(pid: number, assignment: string): boolean {
  return `\0${readProcFile(pid, 'environ')}\0`.includes(`\0${assignment}\0`);
}

function listPids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    // It ended between the listing and the reading, or belongs to someone else.
    return '';
  }
}

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
    const { SystemRoot = 'C:\\Windows' } = process.env;
    const tool = join(SystemRoot, 'System32', 'taskkill.exe');
    const options = { env: { SystemRoot }, stdio: 'ignore' as const };
    spawnProgram(tool, ['/T', '/F', '/PID', String(groupId)], options).on('error', () => {});
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
