import type { Clock } from './time.ts';

/**
 * How callers who share a limit give way to each other. `low`: the call starts something, which may as well start later; `normal`: it
 * asks whether something is over; `high`: it reads or clears what has ended.
 */
export type Priority = 'low' | 'normal' | 'high';

/** Spreads calls over time: a token bucket that starts full and learns from refusals how fast it may be drawn on. */
export interface Pacer {
  /**
   * Resolves when the next call may be made, by default one of low priority. Callers are served in the order they
   * asked. `isRepeated` says that the same call was refused before.
   */
  waitForTurn(options?: TurnOptions): Promise<void>;
  /** Records that a call was refused for its pace: the next come further apart, and what was left of the burst is gone. */
  slowDown(): void;
  /** Records that a call was answered: the pace returns to the first one, step by step. */
  speedUp(): void;
}

export interface TurnOptions {
  priority?: Priority | undefined;
  isRepeated?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** A refusal costs more than an answer gives back, so that callers who share a limit settle below it together. */
const backoffFactor = 4;
const recovery = 0.95;
const longestIntervalMs = 30_000;

/** How many callers share a limit, for all that one of them knows that was refused after its first answer. */
const assumedSharers = 20;

/** The tokens that a call takes once calls were refused: how much of the interval it keeps to the one before it. */
const tokenCost = { low: 1.5, normal: 1, high: 0.1 };

/** A run whose end was asked after in vain may have ended long ago. */
const costOfPollingAgain = tokenCost.normal / 3;

/** What can be saved up while no caller asks, once calls were refused: others may have used all of it. */
const longestCredit = tokenCost.low;

/**
 * Allows `burst` calls at once and `perSecond` after that. Where calls are refused it allows fewer: it guesses from how many
 * were answered before how many share the limit, and corrects itself with every refusal and every answer. `random` draws in
 * [0, 1): those who were refused together neither come back together nor keep the same pace, so that they do not end together.
 */
export function createPacer(
  clock: Clock,
  limits: { perSecond: number; burst: number },
  random: () => number = Math.random,
): Pacer {
  const shortestIntervalMs = 1000 / limits.perSecond;
  const longestMs = Math.max(shortestIntervalMs, longestIntervalMs);
  const own = createBucket(limits.burst, clock.monotonicMs());
  const shared = createBucket(longestCredit, clock.monotonicMs());
  let intervalMs = shortestIntervalMs;
  let answers = 0;
  let wasRefused = false;
  return {
    waitForTurn: async ({ priority = 'low', isRepeated = false, signal } = {}) => {
      const nowMs = clock.monotonicMs();
      const cost = priority === 'normal' && isRepeated ? costOfPollingAgain : tokenCost[priority];
      const sharedMs = intervalMs > shortestIntervalMs ? drawOn(shared, nowMs, { cost, intervalMs }) : nowMs;
      const turnMs = drawOn(own, sharedMs, { cost: 1, intervalMs: shortestIntervalMs });
      if (turnMs > nowMs) await clock.sleep(turnMs - nowMs, { signal });
    },
    slowDown: () => {
      const guessMs = wasRefused ? 0 : 2 * random() * assumedSharers * (shortestIntervalMs / Math.max(answers, 1));
      intervalMs = Math.min(Math.max(intervalMs * backoffFactor, guessMs), longestMs);
      wasRefused = true;
      const nowMs = clock.monotonicMs();
      empty(own, nowMs);
      empty(shared, nowMs + intervalMs * (random() - 0.5));
    },
    speedUp: () => {
      answers += 1;
      intervalMs = Math.max(intervalMs * recovery, shortestIntervalMs);
    },
  };
}

/** Tokens as they are at the last turn that was given out, which lies ahead while callers wait. */
interface Bucket {
  readonly size: number;
  tokens: number;
  countedAtMs: number;
}

function createBucket(size: number, nowMs: number): Bucket {
  return { size, tokens: size, countedAtMs: nowMs };
}

/** Takes `cost` tokens out of a bucket that gains one per interval, and returns the time from which they are available. */
function drawOn(bucket: Bucket, fromMs: number, { cost, intervalMs }: { cost: number; intervalMs: number }): number {
  const startMs = Math.max(fromMs, bucket.countedAtMs);
  const tokens = Math.min(bucket.size, bucket.tokens + (startMs - bucket.countedAtMs) / intervalMs);
  const waitMs = Math.max(0, cost - tokens) * intervalMs;
  bucket.tokens = Math.max(0, tokens - cost);
  bucket.countedAtMs = startMs + waitMs;
  return bucket.countedAtMs;
}

function empty(bucket: Bucket, atMs: number): void {
  bucket.tokens = 0;
  bucket.countedAtMs = Math.max(bucket.countedAtMs, atMs);
}

/** For a service in this process, which has no limit to respect. */
export const unlimitedPacer: Pacer = { waitForTurn: async () => {}, slowDown: () => {}, speedUp: () => {} };
