import { hasEnvironmentEntry, listProcesses } from '../../../src/server/process-tree.ts';

/** The live processes that carry the marker; zombies, which a container may not reap, do not count. */
export function listMarkedPids(marker: string): number[] {
  return listProcesses()
    .map((entry) => entry.pid)
    .filter((pid) => hasEnvironmentEntry(pid, `MCP_EVAL_CI_PROCESS=${marker}`));
}

/** Whether the process runs, as opposed to being gone or a zombie. */
export function isRunning(pid: number): boolean {
  return listProcesses().some((entry) => entry.pid === pid);
}
