import type { Clock } from './clock.ts';

/** Spreads calls over time: a token bucket that starts full. */
export interface Pacer {
  /** Resolves when the next call may be made. Callers are served in the order they asked. */
  waitForTurn(options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** Allows `burst` calls at once and `perSecond` after that. */
export function createPacer(clock: Clock, limits: { perSecond: number; burst: number }): Pacer {
  // The instant at which the bucket would be full again ("virtual scheduling", ITU-T I.371 §A): one number is the state.
  const intervalMs = 1000 / limits.perSecond;
  let fullAtMs = clock.monotonicMs();
  return {
    waitForTurn: async ({ signal } = {}) => {
      const nowMs = clock.monotonicMs();
      fullAtMs = Math.max(fullAtMs, nowMs) + intervalMs;
      const waitMs = fullAtMs - nowMs - limits.burst * intervalMs;
      if (waitMs > 0) await clock.sleep(waitMs, { signal });
    },
  };
}

/** For a service in this process, which has no limit to respect. */
export const unlimitedPacer: Pacer = { waitForTurn: async () => {} };
