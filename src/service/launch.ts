import { DeadlineError, GateError, NetworkError, ProtocolError, ServiceError } from '../base/errors.ts';
import { formatDuration } from '../base/time.ts';
import type { Run } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { isQueueRefusal } from './service-failure.ts';
import { createRun, listSuiteRuns, type NewRun } from './run-client.ts';
import type { WireRunCreated } from './wire.ts';

export interface LaunchParams extends CallOptions, QueueOptions {
  projectId: string;
  run: NewRun & { suiteId: string };
  /** Unique to this launch, at most 256 characters. Every repeated request has the same key. */
  idempotencyKey: string;
  /** Text that no other run has in its notes, such as a UUID. The gate adds it at the end of the notes. */
  marker: string;
}

export interface Launch {
  created: WireRunCreated;
  /** True if the answer was lost and the run was found by its marker. The results of writing its tests are then unknown. */
  wasReadBack: boolean;
}

/** Sends the request twice at most. A service that loses both would lose more. */
const maxSends = 2;

/**
 * Starts exactly one run of a suite. If the service has no room for another run, it waits in the queue. If it is unknown whether the run
 * was started, it searches the suite's runs before it sends the request again.
 *
 * @throws {DeadlineError} when there was no room within `queueTimeoutMs`
 * @throws {GateError} of the last request. After that, and after an abort, the run may still exist: find it with `findRunByMarker`
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
      // Searches on the first refusal too: an earlier attempt of this job may have started the run that takes up the room.
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

/** Finds the run with the marker in its notes, among the latest hundred runs of a suite. */
export async function findRunByMarker(
  client: ServiceClient,
  { marker, ...params }: { projectId: string; suiteId: string; marker: string } & CallOptions,
): Promise<Run | undefined> {
  const runs = await listSuiteRuns(client, { ...params, limit: 100 });
  // Refuses an empty marker, because every text contains it and the caller is about to wait for the run or cancel it.
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

/** Checks if the service may have started the run without confirming it. */
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
  /** How long to wait in the queue, from the first refusal on, in milliseconds. */
  queueTimeoutMs: number;
  /** Called before every wait with the time waited so far and the details from the service. */
  onQueued?: ((waitedMs: number, details: ServiceError['details']) => void) | undefined;
}

/** The place of a run in the queue. The service sends no notice, so the gate sends the request again at intervals. */
export interface Queue {
  hasBegun(): boolean;
  /**
   * Waits before the refused request is sent again.
   * @throws {DeadlineError} when there was no room in time
   */
  waitForRoom(refusal: ServiceError): Promise<void>;
}

/** Runs end within minutes. The wait is random, so that jobs that were refused together do not return together. */
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
      // The next call notices a deadline that passes during the wait.
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
