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
  /** The start time in clock ticks since boot. Together with the pid, it identifies one process forever. */
  startedAt: string;
}

/**
 * Lists the live processes of this machine from /proc; empty if there is none. Leaves out zombies: they no longer run, and in a container
 * whose first process does not reap them they stay forever. Fields as in proc_pid_stat(5).
 */
export function listProcesses(): ProcessEntry[] {
  return listPids().flatMap((pid) => readProcess(pid) ?? []);
}

/** The id of the gate's own process. */
export function getOwnPid(): number {
  return process.pid;
}

/**
 * Checks if a process with this id runs, of this user or another. A zombie has ended: its parent may never reap it, as the first process of
 * a container. Without /proc, a process of another user counts as ended, and a zombie as running.
 */
export function isProcessAlive(pid: number): boolean {
  return readProcFile(pid, 'stat') === '' ? sendSignal(pid, 0) : readProcess(pid) !== null;
}

/** Reads one process; null if it has ended or is a zombie. */
export function readProcess(pid: number): ProcessEntry | null {
  const stat = readProcFile(pid, 'stat');
  // The second field is the program's name in parentheses, which may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parentId, groupId] = fields;
  if (stat === '' || state === 'Z' || state === 'X') return null;
  return { pid, parentId: Number(parentId), groupId: Number(groupId), startedAt: fields[startField] ?? '' };
}

/** Lists the current children of a process, which costs much less than listing all processes. */
export function listChildren(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readProcFile(pid, `task/${thread}/children`).split(' ').map(Number).filter(Boolean),
    );
  } catch {
    return [];
  }
}

/** The field `starttime` of proc_pid_stat(5), counted from the field after the program's name. */
const startField = 19;

/** Lists all descendants of the processes that `isAncestor` picks, in no particular order. */
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

/** Checks if the process was started with `assignment` (`NAME=value`) in its environment; false if this process may not read it. */
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
    // It ended after it was listed, or belongs to another user.
    return '';
  }
}

const pollIntervalMs = 20;

/** Checks if any process of the group still runs. Zombies do not count if /proc can distinguish them. */
export function isGroupAlive(groupId: number): boolean {
  return watchGroup(groupId).isAlive();
}

/** A process group that is checked again and again. */
interface GroupWatch {
  isAlive(): boolean;
}

/**
 * Watches a group. Reading the table of all processes takes milliseconds, and more with each process of the machine. So it is read only if
 * the group exists, `listMembers` does not know all members, and no member that is known from before still runs.
 */
function watchGroup(groupId: number, listMembers: () => readonly number[] | null = () => null): GroupWatch {
  let found: readonly number[] = [groupId];
  let mayBeReaped = false;
  const isMember = (pid: number) => readProcess(pid)?.groupId === groupId;
  return {
    isAlive: () => {
      if (!sendSignal(-groupId, 0)) return false;
      if (process.platform !== 'linux') return true;
      const members = listMembers();
      if (members !== null) return members.some(isMember);
      if (found.some(isMember)) {
        mayBeReaped = true;
        return true;
      }
      // A member that has just ended counts until its parent has reaped it, or until the next check.
      if (mayBeReaped) {
        mayBeReaped = false;
        return true;
      }
      found = listProcesses().flatMap((entry) => (entry.groupId === groupId ? [entry.pid] : []));
      return found.length > 0;
    },
  };
}

/** Sends the signal to every process of the group; a group that has ended is no error. */
export function signalGroup(groupId: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    // Windows has no process groups and no signal that a process could handle: its own tool ends the tree in one way only.
    const { SystemRoot = 'C:\\Windows' } = process.env;
    const tool = join(SystemRoot, 'System32', 'taskkill.exe');
    const options = { env: { SystemRoot }, stdio: 'ignore' as const };
    spawnProgram(tool, ['/T', '/F', '/PID', String(groupId)], options).on('error', () => {});
    return;
  }
  sendSignal(-groupId, signal);
}

/**
 * Waits until the group has ended; false if it still runs after `timeoutMs`. `listMembers` lists its members, ended ones included, if all
 * are known.
 */
export async function waitForGroupEnd(
  clock: Clock,
  groupId: number,
  timeoutMs: number,
  listMembers?: () => readonly number[] | null,
): Promise<boolean> {
  const endsAtMs = clock.monotonicMs() + timeoutMs;
  const group = watchGroup(groupId, listMembers);
  while (group.isAlive()) {
    if (clock.monotonicMs() >= endsAtMs) return false;
    await clock.sleep(pollIntervalMs);
  }
  return true;
}

/** Sends a signal to a process, or to a group by its negated id; 0 only checks. False if there is none that this process may signal. */
export function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    // ESRCH: it has ended. EPERM: only zombies are left (macOS), or this process may not signal it.
    return false;
  }
}
