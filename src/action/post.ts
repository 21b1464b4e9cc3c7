import { getInput, getState, info } from '@actions/core';
import { systemClock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { listProxySecrets, readProxySettings } from '../base/proxy.ts';
import { Secret } from '../base/redaction.ts';
import { clearLeftovers, type Leftovers, parseLeftovers } from '../gate/leftovers.ts';
import { stopMarkedProcesses } from '../server/sweep.ts';
import { createJobLogger } from './logger.ts';
import { createMaskingRedactor } from './redactor.ts';

/** Under which name the main step saves what a hosted service holds of this job. */
export const leftoversState = 'leftovers';

/** How long a leftover process may take to leave; the runner gives a cancelled job's post step little time. */
const graceMs = 1500;

/**
 * Clears what the main step may have left because it was killed before it could do so itself: processes of the server, its run
 * and its tunnel in a hosted service. Does nothing after a main step that ended by itself, and may run any number of times.
 */
export async function runPost(): Promise<number> {
  const leftovers = parseLeftovers(getState(leftoversState));
  await Promise.all([stopProcesses(getState('processMarker')), leftovers === null ? null : clearService(leftovers)]);
  return 0;
}

async function stopProcesses(processMarker: string): Promise<void> {
  if (processMarker === '') return;
  const stopped = await stopMarkedProcesses(processMarker, { graceMs, clock: systemClock });
  if (stopped > 0) info(`Processes of the server that had been left running and are stopped now: ${stopped}.`);
}

async function clearService(leftovers: Leftovers): Promise<void> {
  const redactor = createMaskingRedactor();
  const logger = createJobLogger(redactor);
  try {
    const apiKey = new Secret(getInput('api-key'));
    const proxy = readProxySettings(process.env);
    for (const secret of [apiKey, ...listProxySecrets(proxy)]) redactor.add(secret);
    await clearLeftovers(leftovers, { apiKey, proxy, clock: systemClock, logger });
    logger.info('What was left in the eval service is cleared.');
  } catch (error) {
    logger.warning(`Could not clear what was left in the eval service: ${describeError(error)}`);
  }
}
