import { isTerminalStatus } from '../model/run.ts';
import type { Run } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { getRun } from './runs.ts';

/** Each wait is this much longer than the last, so that short runs are noticed at once and long ones cost little. */
const waitGrowth = 1.5;

/**
 * Asks after a run until it has ended and gives it as it ended, whatever the outcome. A status that we do not know
 * counts as not ended. `onProgress` sees every answer, the last one included.
 *
 * @throws {DeadlineError} when `deadline` passes first; the run goes on
 */
export async function waitForRun(
  client: ServiceClient,
  params: { projectId: string; runId: string; onProgress?: ((run: Run) => void) | undefined } & CallOptions,
): Promise<Run> {
  const { onProgress, ...runParams } = params;
  const { deadline, signal } = params;
  const { firstMs, longestMs } = client.profile.polling;
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * waitGrowth, longestMs)) {
    const run = await getRun(client, runParams);
    onProgress?.(run);
    if (isTerminalStatus(run.status)) return run;
    // A deadline that passes meanwhile is noticed by the next call.
    await client.clock.sleep(Math.min(waitMs, deadline?.remainingMs() ?? waitMs), { signal });
  }
}
