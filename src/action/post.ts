import { getState, info } from '@actions/core';
import { systemClock } from '../base/clock.ts';
import { stopMarkedProcesses } from '../server/sweep.ts';

/** How long a leftover process may take to leave; the runner gives a cancelled job's post step little time. */
const graceMs = 1500;

/**
 * Stops what the main step may have left running because it was killed before it could clean up. Does nothing after a
 * main step that ended by itself, and may run any number of times.
 */
export async function runPost(): Promise<number> {
  const processMarker = getState('processMarker');
  if (processMarker === '') return 0;
  const stopped = await stopMarkedProcesses(processMarker, { graceMs, clock: systemClock });
  if (stopped > 0) info(`Processes of the server that had been left running and are stopped now: ${stopped}.`);
  return 0;
}
