import { readdirSync, readFileSync } from 'node:fs';

/** A process as the kernel lists it. */
export interface ProcessEntry {
  pid: number;
  groupId: number;
}

/**
 * Lists the live processes of this machine from /proc; empty where there is none. Zombies are left out: they run no more,
 * and in a container whose first process does not reap they stay for ever. Fields as in proc_pid_stat(5).
 */
export function listProcesses(): ProcessEntry[] {
  return listPids().flatMap((pid) => {
    const stat = readProcFile(pid, 'stat');
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const [state, , groupId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return stat === '' || state === 'Z' || state === 'X' ? [] : [{ pid, groupId: Number(groupId) }];
  });
}

/** Whether the process was started with `assignment` (`NAME=value`) in its environment; false where that is not ours to read. */
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
