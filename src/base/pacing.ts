import type { Clock } from './clock.ts';

/** Spreads calls over time: a token bucket that starts full and learns from refusals how fast it may be drawn on. */
export interface Pacer {
  /** Resolves when the next call may be made. Callers are served in the order they asked. */
  waitForTurn(options?: { signal?: AbortSignal | undefined }): Promise<void>;
  /** Tells that a call was refused for its pace: the next come further apart, and what was left of the burst is gone. */
  slowDown(): void;
  /** Tells that a call was answered: the pace returns to the first one, step by step. */
  speedUp(): void;
}

/** A refusal costs more than an answer gives back, so that callers who share a limit settle below it together. */
const slowing = 3;
const recovery = 0.9;
const longestIntervalMs = 30_000;

/** Allows `burst` calls at once and `perSecond` after that, or fewer where calls are refused. `random` draws in [0, 1) for the spread of the latter. */
export function createPacer(
  clock: Clock,
  limits: { perSecond: number; burst: number },
  random: () => number = Math.random,
): Pacer {
  const shortestIntervalMs = 1000 / limits.perSecond;
  let intervalMs = shortestIntervalMs;
  // The bucket as it is at the last turn that was given out, which lies ahead while callers wait.
  let lastTurnMs = clock.monotonicMs();
  let tokens = limits.burst;
  return {
    waitForTurn: async ({ signal } = {}) => {
      const nowMs = clock.monotonicMs();
      let turnMs = Math.max(nowMs, lastTurnMs);
      tokens = Math.min(limits.burst, tokens + (turnMs - lastTurnMs) / intervalMs);
      if (tokens < 1) {
        turnMs += (1 - tokens) * intervalMs;
        tokens = 1;
      }
      tokens -= 1;
      lastTurnMs = turnMs;
      if (turnMs > nowMs) await clock.sleep(turnMs - nowMs, { signal });
    },
    slowDown: () => {
      intervalMs = Math.max(shortestIntervalMs, Math.min(intervalMs * slowing, longestIntervalMs));
      // Jobs that are refused in step would come back in step.
      lastTurnMs = Math.max(lastTurnMs, clock.monotonicMs() + intervalMs * (random() - 0.5));
      tokens = 0;
    },
    speedUp: () => {
      intervalMs = Math.max(intervalMs * recovery, shortestIntervalMs);
    },
  };
}

/** For a service in this process, which has no limit to respect. */
export const unlimitedPacer: Pacer = { waitForTurn: async () => {}, slowDown: () => {}, speedUp: () => {} };
