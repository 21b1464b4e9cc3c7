import { hasEnded } from '../model/run.ts';
import type { Run } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { askPatiently, lagPatience, sleepTowards } from './patience.ts';
import { getRun } from './runs.ts';

/** Each wait is this much longer than the last, so that short runs are noticed at once and long ones cost little. */
const waitGrowth = 1.25;

/** By how much of itself a wait is longer or shorter: jobs in step would be refused in step, the same ones every time. */
const waitSpread = 0.1;

const patience = { ...lagPatience, 401: [2000] };

interface WaitParams extends CallOptions {
  projectId: string;
  runId: string;
  onProgress?: ((run: Run) => void) | undefined;
}

/**
 * Asks after a run until it has ended and gives it as it ended, whatever the outcome. A status that we do not know counts as
 * not ended unless the service says when the run was completed. `onProgress` sees every answer, the last one included.
 *
 * @throws {DeadlineError} when `deadline` passes first; the run goes on
 */
export async function waitForRun(client: ServiceClient, params: WaitParams): Promise<Run> {
  const { onProgress, ...runParams } = params;
  const { firstMs, longestMs } = client.profile.polling;
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * waitGrowth, longestMs)) {
    const run = await askPatiently(client, () => getRun(client, runParams), { ...runParams, patience });
    onProgress?.(run);
    if (hasEnded(run)) return run;
    await sleepTowards(client, waitMs * (1 + waitSpread * (2 * client.random() - 1)), params);
  }
}
