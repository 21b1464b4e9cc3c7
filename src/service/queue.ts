import { formatDuration } from '../base/time.ts';
import { DeadlineError } from '../base/errors.ts';
import type { ServiceError } from '../base/errors.ts';
import type { CallOptions, ServiceClient } from './client.ts';

export interface QueueOptions {
  /** How long to wait while as many runs are in progress as may be, from the first refusal on. */
  queueTimeoutMs: number;
  /** Called before every wait with how long it has been, and what the service said about it. */
  onQueued?: ((waitedMs: number, details: ServiceError['details']) => void) | undefined;
}

/** A place in the queue for a run. The service sends no notice, so it asks again every so often. */
export interface Queue {
  hasBegun(): boolean;
  /** Waits before the request that was refused is made again. @throws {DeadlineError} when there was no room in time */
  waitForRoom(refusal: ServiceError): Promise<void>;
}

/** Runs end in minutes. Drawn from a range, so that those who were refused together do not return together. */
const shortestWaitMs = 15_000;
const longestWaitMs = 30_000;

export function createQueue(client: ServiceClient, options: QueueOptions & CallOptions): Queue {
  const { clock, random } = client;
  const { queueTimeoutMs, onQueued, signal, deadline } = options;
  let begunAtMs: number | undefined;
  return {
    hasBegun: () => begunAtMs !== undefined,
    waitForRoom: async (refusal) => {
      begunAtMs ??= clock.monotonicMs();
      const waitedMs = clock.monotonicMs() - begunAtMs;
      if (waitedMs >= queueTimeoutMs) throw noRoom(refusal, queueTimeoutMs);
      onQueued?.(waitedMs, refusal.details);
      const drawnMs = shortestWaitMs + random() * (longestWaitMs - shortestWaitMs);
      const waitMs = Math.min(Math.max(drawnMs, refusal.retryAfterMs ?? 0), queueTimeoutMs - waitedMs);
      // A deadline that passes meanwhile is noticed by the next call.
      await clock.sleep(Math.min(waitMs, deadline?.remainingMs() ?? waitMs), { signal });
    },
  };
}

function noRoom(refusal: ServiceError, queueTimeoutMs: number): DeadlineError {
  const { maxConcurrentRuns } = refusal.details;
  const limit = typeof maxConcurrentRuns === 'number' ? ` (${maxConcurrentRuns})` : '';
  return new DeadlineError(
    `As many runs as the organization may have${limit} were in progress for ${formatDuration(queueTimeoutMs)}.`,
    { hint: 'Raise `queue-timeout`, or let fewer jobs start runs at the same time.', cause: refusal },
  );
}
