import { ServiceError } from '../base/errors.ts';
import { hasEnded, type Run } from '../model/run.ts';
import { race } from '../base/time.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { getRun } from './run-client.ts';

/**
 * The waits after successive refusals that may be stale, by status. A replica of the service may not know recent data yet, and a deployment
 * may briefly not recognize keys.
 */
export type StaleWaits = Readonly<Record<number, readonly number[]>>;

export const lagWaits: StaleWaits = { 404: [2000, 3000, 5000] };

/** Repeats a request after refusals that may be stale, as often as there are waits for their status. */
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

/** The factor by which each wait grows. Short runs are noticed at once, and long ones cost few requests. */
const waitGrowth = 1.25;

/** The random part of each wait. Without it, jobs in step would be refused in step, the same ones every time. */
const waitSpread = 0.1;

const waits = { ...lagWaits, 401: [2000] };

interface WaitParams extends CallOptions {
  projectId: string;
  runId: string;
  onProgress?: ((run: Run) => void) | undefined;
  /** Resolves when the run has ended, if this process knows. The run is then polled at once. */
  ended?: Promise<void> | undefined;
}

/**
 * Polls a run until it has ended and returns it, whatever its result. An unknown status counts as not ended unless the service gives the
 * completion time. `onProgress` receives every answer, including the last one.
 *
 * @throws {DeadlineError} when `deadline` passes first; the run continues
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
    // A resolved promise must not shorten later waits.
    if (await sleepTowards(client, spreadMs, { ...runParams, until: hint })) hint = undefined;
  }
}

/** Waits, and resolves with true if `until` ended the wait. The next call notices a deadline that passes during the wait. */
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
