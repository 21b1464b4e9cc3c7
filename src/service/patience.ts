import { ServiceError } from '../base/errors.ts';
import type { CallOptions, ServiceClient } from './client.ts';

/**
 * How long to wait after each refusal in a row that may not be the last word, by its status. A copy of the service's data
 * may not know yet of what another has just accepted, and a deployment may lose sight of keys for a moment.
 */
export type Patience = Readonly<Record<number, readonly number[]>>;

export const lagPatience: Patience = { 404: [2000, 3000, 5000] };

/** Asks, and asks again after refusals, as often as the patience has waits for their status. */
export async function askPatiently<T>(
  client: ServiceClient,
  ask: () => Promise<T>,
  { patience, ...options }: { patience: Patience } & CallOptions,
): Promise<T> {
  for (let refusals = 0; ; refusals += 1) {
    try {
      return await ask();
    } catch (error) {
      const waitMs = error instanceof ServiceError ? patience[error.status]?.[refusals] : undefined;
      if (waitMs === undefined) throw error;
      await sleepTowards(client, waitMs, options);
    }
  }
}

/** A deadline that passes meanwhile is noticed by the next call. */
export async function sleepTowards(
  client: ServiceClient,
  waitMs: number,
  { deadline, signal }: CallOptions,
): Promise<void> {
  await client.clock.sleep(Math.min(waitMs, deadline?.remainingMs() ?? waitMs), { signal });
}
