import { readdirSync, readFileSync } from 'node:fs';

/** A process that still exists. Linux only, because it is read from /proc. */
export interface ProcessEntry {
  pid: number;
  parentPid: number;
  command: string;
}

/** Lists all readable processes of the machine without zombies. */
function listProcesses(pids = listPids()): ProcessEntry[] {
  return pids.map(readProcess).filter((entry) => entry !== null);
}

function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function readProcess(pid: number): ProcessEntry | null {
  const match = /^\d+ \(.*\) (\S) (\d+)/s.exec(readQuietly(`/proc/${pid}/stat`));
  if (match === null || match[1] === 'Z' || match[1] === 'X') return null;
  const commandLine = readQuietly(`/proc/${pid}/cmdline`);
  return { pid, parentPid: Number(match[2]), command: commandLine.replaceAll('\0', ' ').trim() };
}

/** Reads a file of a process; empty if the process has ended, which can happen between any two reads. */
function readQuietly(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** True if a process runs. A zombie does not count, which signal 0 could not distinguish. */
export function isAlive(pid: number): boolean {
  return readProcess(pid) !== null;
}

/** Finds processes with this RUNNER_TRACKING_ID in their environment, which the runner calls orphans when a job ends. */
export function findTrackedProcesses(trackingId: string): ProcessEntry[] {
  const marker = `RUNNER_TRACKING_ID=${trackingId}`;
  return listProcesses(listPids().filter((pid) => readQuietly(`/proc/${pid}/environ`).split('\0').includes(marker)));
}

/** Kills a process and all its descendants, children first, as the runner does if signals had no effect. */
export function killTree(pid: number): void {
  const processes = listProcesses();
  const listDescendants = (parentPid: number): number[] =>
    processes
      .filter((entry) => entry.parentPid === parentPid)
      .flatMap((entry) => [...listDescendants(entry.pid), entry.pid]);
  for (const target of [...listDescendants(pid), pid]) killQuietly(target);
}

export function killQuietly(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process is already gone.
  }
}
