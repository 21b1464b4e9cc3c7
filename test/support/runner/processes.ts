import { readdirSync, readFileSync } from 'node:fs';

/** A process that is still there; Linux only, as it is read from /proc. */
export interface ProcessEntry {
  pid: number;
  parentPid: number;
  command: string;
}

/** All processes of the machine that we may look at, without those that are dead and only not yet waited for. */
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

/** Empty where the process has ended, which it may do between any two of these reads. */
function readQuietly(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Whether a process runs. One that is dead and not yet waited for does not, which signal 0 cannot tell. */
export function isAlive(pid: number): boolean {
  return readProcess(pid) !== null;
}

/** Processes whose environment carries this RUNNER_TRACKING_ID: what the runner calls orphans when a job ends. */
export function findTrackedProcesses(trackingId: string): ProcessEntry[] {
  const marker = `RUNNER_TRACKING_ID=${trackingId}`;
  return listProcesses(listPids().filter((pid) => readQuietly(`/proc/${pid}/environ`).split('\0').includes(marker)));
}

/** Kills a process and all its descendants, children first, as the runner does when signals were of no use. */
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
    // It is gone already, which is what was wanted.
  }
}
