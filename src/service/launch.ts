import { GateError, NetworkError, ProtocolError, ServiceError, DeadlineError } from '../base/errors.ts';
import type { Run } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { isQueueRefusal } from './failure.ts';
import { createRun, listSuiteRuns } from './runs.ts';
import type { NewRun } from './runs.ts';
import type { WireRunCreated } from './wire.ts';
import { formatDuration } from '../base/time.ts';

export interface LaunchParams extends CallOptions, QueueOptions {
  projectId: string;
  run: NewRun & { suiteId: string };
  /** Of this launch alone, at most 256 characters: whatever is sent again is sent with it. */
  idempotencyKey: string;
  /** Text that is in the notes of no other run, such as a UUID; the notes of this one end with it. */
  marker: string;
}

export interface Launch {
  created: WireRunCreated;
  /** Whether the receipt was lost and the run found by its marker. The outcome of its tests is not known then. */
  wasReadBack: boolean;
}

/** A service that shows no trace of the first request gets it again; one that loses both will lose more. */
const maxSends = 2;

/**
 * Starts exactly one run of a suite. Where the service has no room for another it queues up; if it is unknown
 * whether the run was started, the suite's runs are searched for it before the same request is sent again.
 *
 * @throws {DeadlineError} when there was no room within `queueTimeoutMs`
 * @throws {GateError} as the last request failed. After that, and after an abort, the run may exist all the same:
 *   `findRunByMarker` finds such a run
 */
export async function createRunExactlyOnce(client: ServiceClient, params: LaunchParams): Promise<Launch> {
  const { projectId, run, idempotencyKey, marker, signal, deadline } = params;
  const notes = run.notes === undefined ? marker : `${run.notes}\n${marker}`;
  const request = { projectId, run: { ...run, notes }, idempotencyKey, signal, deadline };
  const queue = createQueue(client, params);
  for (let sends = 1; ;) {
    try {
      return { created: await createRun(client, request), wasReadBack: false };
    } catch (error) {
      const isQueued = isQueueRefusal(error);
      if (!isQueued && !isOutcomeUnknown(error)) throw error;
      // The run that takes up the room may be this job's own: an attempt before this one may have started it.
      const trace = isQueued && queue.hasBegun() ? 'none' : await findTrace(client, params);
      if (typeof trace === 'object') return { created: toReceipt(trace), wasReadBack: true };
      if (isQueued) {
        await queue.waitForRoom(error);
      } else {
        if (trace === 'unknown' || sends === maxSends) throw error;
        sends += 1;
      }
    }
  }
}

/** Finds the run whose notes hold the marker among the latest hundred of a suite. */
export async function findRunByMarker(
  client: ServiceClient,
  { marker, ...params }: { projectId: string; suiteId: string; marker: string } & CallOptions,
): Promise<Run | undefined> {
  const runs = await listSuiteRuns(client, { ...params, limit: 100 });
  // The caller is about to wait for the run or to cancel it, and every text holds the empty one.
  return runs.find(({ notes }) => marker !== '' && notes?.includes(marker));
}

async function findTrace(
  client: ServiceClient,
  { projectId, run: { suiteId }, marker, signal, deadline }: LaunchParams,
): Promise<Run | 'none' | 'unknown'> {
  try {
    return (await findRunByMarker(client, { projectId, suiteId, marker, signal, deadline })) ?? 'none';
  } catch (error) {
    if (isFault(error)) return 'unknown';
    throw error;
  }
}

/** Whether the service may have started the run although it did not say so. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof GateError && error.mayHaveHappened;
}

function isFault(error: unknown): boolean {
  return error instanceof NetworkError || error instanceof ProtocolError || error instanceof ServiceError;
}

function toReceipt({ id, suiteId, status }: Run): WireRunCreated {
  return { runId: id, suiteId, status };
}

export interface QueueOptions {
  /** How long to wait while as many runs are in progress as may be, from the first refusal on. */
  queueTimeoutMs: number;
  /** Called before every wait with how long it has been, and what the service said about it. */
  onQueued?: ((waitedMs: number, details: ServiceError['details']) => void) | undefined;
}

/** A slot in the queue for a run. The service sends no notice, so it asks again every so often. */
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
