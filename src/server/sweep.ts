import type { Clock } from '../base/time.ts';
import { markerVariable } from './environment.ts';
import { isGroupAlive, signalGroup, waitForGroupEnd } from './group.ts';
import { hasEnvironmentEntry, listProcesses } from './process-table.ts';
import type { ProcessEntry } from './process-table.ts';

/**
 * Stops every process that carries the session marker in its environment, those that left their process group included, and
 * resolves to how many there were. SIGTERM first, SIGKILL after `graceMs`. Finds nothing where there is no /proc.
 */
export async function stopMarkedProcesses(marker: string, options: { graceMs: number; clock: Clock }): Promise<number> {
  const found = listMarkedProcesses(marker);
  const groupIds = [...new Set(found.map((entry) => entry.groupId))];
  for (const groupId of groupIds) signalGroup(groupId, 'SIGTERM');
  const ends = await Promise.all(groupIds.map((groupId) => waitForGroupEnd(options.clock, groupId, options.graceMs)));
  if (ends.includes(false)) {
    for (const groupId of groupIds.filter(isGroupAlive)) signalGroup(groupId, 'SIGKILL');
    await Promise.all(groupIds.map((groupId) => waitForGroupEnd(options.clock, groupId, options.graceMs)));
  }
  return found.length;
}

function listMarkedProcesses(marker: string): ProcessEntry[] {
  const assignment = `${markerVariable}=${marker}`;
  const processes = listProcesses();
  // Signalling our own group would end us and whatever started us; 0 and -1 mean everybody to kill(2).
  const ownGroupId = processes.find((entry) => entry.pid === process.pid)?.groupId;
  const isSafe = ({ groupId }: ProcessEntry) => groupId > 1 && groupId !== ownGroupId;
  return processes.filter((entry) => isSafe(entry) && hasEnvironmentEntry(entry.pid, assignment));
}
