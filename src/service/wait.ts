import { ServiceError } from '../base/errors.ts';
import { isTerminalStatus } from '../model/run.ts';
import type { Run } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { getRun } from './runs.ts';

/** Each wait is this much longer than the last, so that short runs are noticed at once and long ones cost little. */
const waitGrowth = 1.25;

/** By how much of itself a wait is longer or shorter: jobs in step would be refused in step, the same ones every time. */
const waitSpread = 0.1;

/**
 * How long to wait after each refusal in a row that may not be the last word, by its status. A copy of the service's
 * data may not know yet of a run that another has just accepted, and a deployment may lose sight of keys for a moment.
 */
const patienceMs: Readonly<Record<number, readonly number[]>> = { 404: [2000, 3000, 5000], 401: [2000] };

interface WaitParams extends CallOptions {
  projectId: string;
  runId: string;
  onProgress?: ((run: Run) => void) | undefined;
}

/**
 * Asks after a run until it has ended and gives it as it ended, whatever the outcome. A status that we do not know
 * counts as not ended. `onProgress` sees every answer, the last one included.
 *
 * @throws {DeadlineError} when `deadline` passes first; the run goes on
 */
export async function waitForRun(client: ServiceClient, params: WaitParams): Promise<Run> {
  const { firstMs, longestMs } = client.profile.polling;
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * waitGrowth, longestMs)) {
    const run = await getRunPatiently(client, params);
    params.onProgress?.(run);
    if (isTerminalStatus(run.status)) return run;
    await sleepTowards(client, waitMs * (1 + waitSpread * (2 * client.random() - 1)), params);
  }
}

async function getRunPatiently(client: ServiceClient, params: WaitParams): Promise<Run> {
  const { onProgress: _, ...runParams } = params;
  for (let refusals = 0; ; refusals += 1) {
    try {
      return await getRun(client, runParams);
    } catch (error) {
      const waitMs = error instanceof ServiceError ? patienceMs[error.status]?.[refusals] : undefined;
      if (waitMs === undefined) throw error;
      await sleepTowards(client, waitMs, params);
    }
  }
}

/** A deadline that passes meanwhile is noticed by the next call. */
async function sleepTowards(client: ServiceClient, waitMs: number, { deadline, signal }: CallOptions): Promise<void> {
  await client.clock.sleep(Math.min(waitMs, deadline?.remainingMs() ?? waitMs), { signal });
}
