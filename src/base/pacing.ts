import type { Clock } from './time.ts';

/**
 * The order in which callers who share a limit give way. `low`: the call starts work, which may as well start later; `normal`: it asks if
 * work is over; `high`: it reads or clears finished work.
 */
export type Priority = 'low' | 'normal' | 'high';

/** Spreads calls over time: a token bucket that starts full and learns its pace from refusals. */
export interface Pacer {
  /**
   * Resolves when the next call may be made; its priority is low by default. Callers are served in the order in which they asked.
   * `isRepeated` marks a call that was refused before.
   */
  waitForTurn(options?: TurnOptions): Promise<void>;
  /** Records that a call was refused for its pace: the next calls are spaced further apart, and the rest of the burst is lost. */
  slowDown(): void;
  /** Records that a call was answered: the pace returns to the initial one, step by step. */
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

/** The assumed number of callers that share a limit. A caller that is refused after its first answer knows no more than this. */
const assumedSharers = 20;

/** The tokens that a call takes after a refusal: the fraction of the interval that it waits after the previous call. */
const tokenCost = { low: 1.5, normal: 1, high: 0.1 };

/** A repeated poll costs less, because the run may have ended long ago. */
const costOfPollingAgain = tokenCost.normal / 3;

/** The most tokens that accumulate while no caller asks, after a refusal: other callers may have used the rest of the limit. */
const longestCredit = tokenCost.low;

/**
 * Allows `burst` calls at once and `perSecond` after that. After a refusal it allows fewer: it estimates the number of callers that share
 * the limit from the calls answered so far, and corrects the pace with every refusal and every answer. `random` draws in [0, 1). It
 * spreads callers that were refused together, so that they neither return nor finish at the same time.
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

/** The tokens at the time of the last turn given out, which lies ahead while callers wait. */
interface Bucket {
  readonly size: number;
  tokens: number;
  countedAtMs: number;
}

function createBucket(size: number, nowMs: number): Bucket {
  return { size, tokens: size, countedAtMs: nowMs };
}

/** Takes `cost` tokens out of a bucket that gains one per interval. Returns the time at which they are available. */
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

/** Never waits: a service in this process has no limit to respect. */
export const unlimitedPacer: Pacer = { waitForTurn: async () => {}, slowDown: () => {}, speedUp: () => {} };
