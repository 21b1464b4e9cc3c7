import { ServiceError } from '../base/errors.ts';
import { hasEnded, type Run } from '../model/run.ts';
import { race } from '../base/time.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { getRun } from './runs.ts';

/**
 * How long to wait after each refusal in a row that may not be the last word, by its status. A copy of the service's data
 * may not know yet of what another has just accepted, and a deployment may lose sight of keys for a moment.
 */
export type StaleWaits = Readonly<Record<number, readonly number[]>>;

export const lagWaits: StaleWaits = { 404: [2000, 3000, 5000] };

/** Asks, and asks again after refusals that may be stale, as often as there are waits for their status. */
export async function retryWhileStale<T>(
  client: ServiceClient,
  ask: () => Promise<T>,
  { waits, ...options }: { waits: StaleWaits } & CallOptions,
): Promise<T> {
  for (let refusals = 0; ; refusals += 1) {
    try {
      return await ask();
    } catch (error) {
      const waitMs = error instanceof ServiceError ? waits[error.status]?.[refusals] : undefined;
      if (waitMs === undefined) throw error;
      await sleepTowards(client, waitMs, options);
    }
  }
}

/** Each wait is this much longer than the last, so that short runs are noticed at once and long ones cost little. */
const waitGrowth = 1.25;

/** By how much of itself a wait is longer or shorter: jobs in step would be refused in step, the same ones every time. */
const waitSpread = 0.1;

const waits = { ...lagWaits, 401: [2000] };

interface WaitParams extends CallOptions {
  projectId: string;
  runId: string;
  onProgress?: ((run: Run) => void) | undefined;
  /** Resolves when the run has ended, where something in this process knows; it is asked after at once then. */
  ended?: Promise<void> | undefined;
}

/**
 * Asks after a run until it has ended and gives it as it ended, whatever the outcome. A status that we do not know counts as
 * not ended unless the service says when the run was completed. `onProgress` sees every answer, the last one included.
 *
 * @throws {DeadlineError} when `deadline` passes first; the run goes on
 */
export async function waitForRun(client: ServiceClient, params: WaitParams): Promise<Run> {
  const { onProgress, ended, ...runParams } = params;
  let hint = ended;
  const { firstMs, longestMs } = client.profile.polling;
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * waitGrowth, longestMs)) {
    const run = await retryWhileStale(client, () => getRun(client, runParams), { ...runParams, waits });
    onProgress?.(run);
    if (hasEnded(run)) return run;
    const spreadMs = waitMs * (1 + waitSpread * (2 * client.random() - 1));
    // Once it has resolved, there is nothing more to be learned from it.
    if (await sleepTowards(client, spreadMs, { ...runParams, until: hint })) hint = undefined;
  }
}

/** Resolves with whether `until` ended the wait. A deadline that passes meanwhile is noticed by the next call. */
async function sleepTowards(
  { clock }: ServiceClient,
  waitMs: number,
  { deadline, signal, until }: CallOptions & { until?: Promise<void> | undefined },
): Promise<boolean> {
  const afterMs = Math.min(waitMs, deadline?.remainingMs() ?? waitMs);
  if (until === undefined) {
    await clock.sleep(afterMs, { signal });
    return false;
  }
  const signals = signal === undefined ? [] : [signal];
  const over = until.then(() => true);
  return await race(over, { signals, timeout: { clock, afterMs, onTimeout: () => false } });
}
