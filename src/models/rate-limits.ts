import type { Pacer } from '../base/pacing.ts';
import type { Clock } from '../base/time.ts';
import type { FailedAnswer } from '../http/failed-answer.ts';
import { parseRetryAfter } from '../http/retry.ts';

type Headers = FailedAnswer['headers'];

/** The headers of the limits, by provider: the remaining count and the time of the reset. */
const limits = [
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((unit) => ({
    remaining: `anthropic-ratelimit-${unit}-remaining`,
    reset: `anthropic-ratelimit-${unit}-reset`,
  })),
  ...['requests', 'tokens'].map((unit) => ({
    remaining: `x-ratelimit-remaining-${unit}`,
    reset: `x-ratelimit-reset-${unit}`,
  })),
  { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
];

/**
 * Reads the wait that a provider asks for: `retry-after-ms`, `retry-after`, or else the reset of the exhausted limits. Undefined if the
 * provider asks for none.
 */
export function readRetryAfterMs(headers: Headers): number | undefined {
  const exact = Number(readHeader(headers, 'retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact) && exact > 0) return exact;
  const date = readHeader(headers, 'date');
  const text = readHeader(headers, 'retry-after');
  // A reset is the time when a limit is whole again. A provider that accepts calls earlier sends 0.
  if (/^\s*0+\s*$/.test(text ?? '')) return undefined;
  return parseRetryAfter(text, date) ?? readResetMs(headers);
}

/** Reads the time until all exhausted limits are reset; undefined if no limit is exhausted. */
export function readResetMs(headers: Headers): number | undefined {
  const waits = limits.flatMap(({ remaining, reset }) => {
    if (!/^0(?:\.0+)?$/.test(readHeader(headers, remaining)?.trim() ?? '')) return [];
    const waitMs = parseReset(readHeader(headers, reset)?.trim() ?? '', readHeader(headers, 'date'));
    return waitMs !== undefined && waitMs > 0 ? [waitMs] : [];
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function readHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

const unitsMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const durationPattern = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** A number from here on is a time in epoch milliseconds: in seconds it would be 30,000 years. */
const earliestEpochMs = 1e12;

/**
 * Reads a reset in one of the known forms: a duration such as `6m0s` (OpenAI), seconds, epoch milliseconds (OpenRouter) or an RFC 3339
 * time (Anthropic). A time is relative to the answer's Date header, so that a wrong local clock does not matter.
 */
function parseReset(text: string, date: string | undefined): number | undefined {
  if (durationPattern.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitsMs[unit] ?? 0), 0);
  }
  const sentAtMs = Date.parse(date ?? '');
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const number = Number(text);
    return finiteOrUndefined(number < earliestEpochMs ? number * 1000 : number - sentAtMs);
  }
  if (!/^\d{4}-\d{2}-\d{2}T/.test(text)) return undefined;
  return finiteOrUndefined(Date.parse(text) - sentAtMs);
}

function finiteOrUndefined(milliseconds: number): number | undefined {
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/** Limits the pace of the calls with one key. */
export interface ProviderPacer extends Pacer {
  /** Starts no call until `delayMs` have passed, because a limit of the key is exhausted. */
  pause(delayMs: number): void;
}

/** The longest pause. A daily limit is reset in hours, and a run does not wait for that: the next call shows if the limit is reset. */
const longestPauseMs = 60_000;

/** Calls per second: half of the rate that the smallest paid accounts allow. */
const defaultPerSecond = 5;

/** Fractions of the initial pace: the slowest pace after refusals, and the increase per answer. */
const shares = { slowest: 0.1, step: 0.05 };

/** The calls of so many seconds, at least one, may start at once while the provider has refused none. */
const burstSeconds = 2;

/** Refusals within this time count once: calls that ran at the same time are refused together. */
const sameRefusalMs = 1000;

/**
 * Limits the pace of the calls with one key: additive increase with every answer, multiplicative decrease with every refusal (AIMD; D. Chiu
 * and R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance in computer networks", 1989). `first` is the pace
 * until the first refusal, in calls per second.
 */
export function createProviderPacer(clock: Clock, random: () => number, first = defaultPerSecond): ProviderPacer {
  const firstBurst = Math.max(1, burstSeconds * first);
  let perSecond = first;
  let tokens = firstBurst;
  let countedAtMs = clock.monotonicMs();
  let slowedAtMs = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = 0;
  const drawTurnMs = (nowMs: number): number => {
    const startMs = Math.max(nowMs, countedAtMs);
    const size = perSecond < first ? 1 : firstBurst;
    const saved = Math.min(size, tokens + ((startMs - countedAtMs) / 1000) * perSecond);
    tokens = Math.max(0, saved - 1);
    countedAtMs = startMs + (Math.max(0, 1 - saved) * 1000) / perSecond;
    return countedAtMs;
  };
  return {
    waitForTurn: async ({ signal } = {}) => {
      const nowMs = clock.monotonicMs();
      const turnMs = drawTurnMs(nowMs);
      if (turnMs > nowMs) await clock.sleep(turnMs - nowMs, { signal });
      const waitMs = pausedUntilMs - clock.monotonicMs();
      // The wait gets jitter, like a wait for Retry-After: all calls of the key start again at the same time.
      if (waitMs > 0) await clock.sleep(waitMs + random() * Math.min(1000, waitMs / 10), { signal });
    },
    slowDown: () => {
      const nowMs = clock.monotonicMs();
      if (nowMs - slowedAtMs < sameRefusalMs) return;
      slowedAtMs = nowMs;
      perSecond = Math.max(shares.slowest * first, perSecond / 2);
      tokens = 0;
      countedAtMs = Math.max(countedAtMs, nowMs);
    },
    speedUp: () => {
      perSecond = Math.min(first, perSecond + shares.step * first);
    },
    pause: (delayMs) => {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonicMs() + Math.min(delayMs, longestPauseMs));
    },
  };
}
