import { readdir, readFile } from 'node:fs/promises';

/** A process that is still there; Linux only, as it is read from /proc. */
export interface ProcessEntry {
  pid: number;
  parentPid: number;
  command: string;
}

/** All processes of the machine that we may look at, without those that are dead and only not yet waited for. */
async function listProcesses(): Promise<ProcessEntry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(pids.map((pid) => readProcess(Number(pid))));
  return entries.filter((entry) => entry !== null);
}

async function readProcess(pid: number): Promise<ProcessEntry | null> {
  // A process may end between any two of these reads.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const match = /^\d+ \(.*\) (\S) (\d+)/s.exec(stat);
  if (match === null || match[1] === 'Z' || match[1] === 'X') return null;
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return { pid, parentPid: Number(match[2]), command: commandLine.replaceAll('\0', ' ').trim() };
}

/** Whether a process runs. One that is dead and not yet waited for does not, which signal 0 cannot tell. */
export async function isAlive(pid: number): Promise<boolean> {
  return (await readProcess(pid)) !== null;
}

/** Processes whose environment carries this RUNNER_TRACKING_ID: what the runner calls orphans when a job ends. */
export async function findTrackedProcesses(trackingId: string): Promise<ProcessEntry[]> {
  const marker = `RUNNER_TRACKING_ID=${trackingId}`;
  const processes = await listProcesses();
  const isTracked = await Promise.all(
    processes.map(async ({ pid }) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(marker);
    }),
  );
  return processes.filter((_, index) => isTracked[index]);
}

/** Kills a process and all its descendants, children first, as the runner does when signals were of no use. */
export async function killTree(pid: number): Promise<void> {
  const processes = await listProcesses();
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
