import { hasEnvironmentEntry, listProcesses } from '../../../src/server/process-tree.ts';

/** Lists the live processes with the marker. Zombies, which a container may not reap, do not count. */
export function listMarkedPids(marker: string): number[] {
  return listProcesses()
    .map((entry) => entry.pid)
    .filter((pid) => hasEnvironmentEntry(pid, `MCP_EVAL_CI_PROCESS=${marker}`));
}

/** True if the process runs; false if it is gone or a zombie. */
export function isRunning(pid: number): boolean {
  return listProcesses().some((entry) => entry.pid === pid);
}
