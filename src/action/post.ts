import { getState, info } from '@actions/core';
import { createFindings } from '../base/findings.ts';
import { systemClock } from '../base/time.ts';
import { describeError } from '../base/errors.ts';
import { listProxySecrets } from '../http/proxy.ts';
import { listKnownSecrets, parseGateOptions } from '../gate/options.ts';
import { planHosted } from '../gate/plan/plan-service.ts';
import { clearRemoteResources } from '../gate/run/clear-remote.ts';
import { type RemoteResources, parseRemoteResources } from '../gate/run/cleanup-journal.ts';
import { serviceProfiles } from '../service/profile.ts';
import { sendSignal } from '../server/process-tree.ts';
import { listMarkers } from '../server/environment.ts';
import { stopMarkedProcesses } from '../server/kill-orphans.ts';
import { readInputs } from './inputs.ts';
import type { JobOutput } from './action-logger.ts';

/** The name under which the main step saves what a hosted service holds of this job. */
export const remoteResourcesState = 'leftovers';

/** The name under which the main step saves the id of its process. */
export const gateProcessState = 'gateProcess';

/**
 * The longest time that a gate may take to stop what it started after its supervisor was killed. The id may be forged, or belong to another
 * process by now.
 */
const gateTimeoutMs = 10_000;
const gateCheckMs = 50;

/** The longest time that a process that is still running may take to exit. The runner gives the post step of a cancelled job little time. */
const graceMs = 1500;

/**
 * Clears what the main step may have left because it was killed before it could clear up: processes of the server, its run and its tunnel in
 * a hosted service. Does nothing after a main step that ended by itself, and may run any number of times.
 */
export async function runPost(output: JobOutput): Promise<number> {
  const resources = parseRemoteResources(getState(remoteResourcesState));
  await Promise.all([
    stopProcesses(getState('processMarker')),
    resources === null ? null : clearService(resources, output),
  ]);
  await waitForGate(Number(getState(gateProcessState)));
  return 0;
}

/** Waits for a gate that stops by itself because its supervisor was killed, so that the job's next steps find nothing of it. */
async function waitForGate(pid: number): Promise<void> {
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  const deadlineMs = systemClock.monotonicMs() + gateTimeoutMs;
  while (sendSignal(pid, 0) && systemClock.monotonicMs() < deadlineMs) await systemClock.sleep(gateCheckMs);
}

async function stopProcesses(processMarker: string): Promise<void> {
  if (processMarker === '') return;
  const options = { graceMs, clock: systemClock };
  const counts = listMarkers(processMarker).map((marker) => stopMarkedProcesses(marker, options));
  const stopped = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  if (stopped > 0) info(`Processes of the server that had been left running and are stopped now: ${stopped}.`);
}

async function clearService(resources: RemoteResources, { redactor, logger }: JobOutput): Promise<void> {
  try {
    const { env: environment } = process;
    const { texts: inputs } = readInputs('run');
    for (const secret of listKnownSecrets(inputs, environment)) redactor.add(secret);
    // Never takes the key's service from the state, which the server under test can write to: the key goes to the service that the workflow names.
    const options = parseGateOptions(inputs);
    const profile = serviceProfiles[options.service];
    const hosted = options.service === 'embedded' ? null : planHosted(options, environment, createFindings());
    if (hosted === null) {
      logger.warning(
        'The state names resources of an eval service, and the inputs name no service. Nothing was cleared.',
      );
      return;
    }
    for (const secret of listProxySecrets(hosted.proxy)) redactor.add(secret);
    await clearRemoteResources(resources, { ...hosted, profile, clock: systemClock, logger });
    logger.info('What was left in the eval service is cleared.');
  } catch (error) {
    logger.warning(`Could not clear what was left in the eval service: ${describeError(error)}`);
  }
}
