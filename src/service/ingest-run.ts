import { type Deadline, startDeadline } from '../base/time.ts';
import { describeError } from '../base/errors.ts';
import { isTerminalStatus } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import {
  addIngestedIterations,
  finalizeIngestedRun,
  type IngestResult,
  type IngestRun,
  reportRun,
  startIngestedRun,
} from './ingest.ts';
import type { WireIngestedRun } from './wire.ts';

/** What the API takes in one request. */
const maxResults = 200;
const maxBodyBytes = 2 ** 20;

/** For ending a run that could not be filled: its caller has been waiting for long. */
const closingMs = 5000;

export interface IngestRunParams extends CallOptions {
  projectId: string;
  run: IngestRun;
  /** At least one. */
  results: readonly IngestResult[];
}

/**
 * Brings a run with all its results to the service: in one request where they fit into one, else in several. Where the same
 * run is there already and has ended, it is given as it is and nothing is sent. A run that was opened is ended whatever
 * happens, if the service can be reached.
 *
 * @throws {GateError} as the request failed that could not be carried out
 */
export async function ingestRun(client: ServiceClient, params: IngestRunParams): Promise<WireIngestedRun> {
  const { results, run, ...options } = params;
  if (fitsIntoOneRequest(run, results)) return await reportRun(client, params);

  const started = await startIngestedRun(client, { run, ...options });
  const { runId } = started;
  if (started.reused === true && hasVerdict(started)) return started;
  const end = { runId, externalRunId: run.externalRunId };
  try {
    for (const chunk of cutIntoChunks(results)) {
      await addIngestedIterations(client, { runId, results: chunk, ...options });
    }
    return { ...started, ...(await finalizeIngestedRun(client, { ...end, ...options })) };
  } catch (error) {
    await closeRun(client, { ...end, projectId: options.projectId });
    throw error;
  }
}

/** Some tell the result of a run and no status. */
function hasVerdict({ status, result }: WireIngestedRun): boolean {
  return status == null ? result != null : isTerminalStatus(status);
}

/** The service never ends it by itself. The error to report is why it could not be filled, whatever the result of this. */
async function closeRun(
  client: ServiceClient,
  params: { projectId: string; runId: string; externalRunId: string },
): Promise<void> {
  const deadline: Deadline = startDeadline(client.clock, closingMs, 'Ending the run');
  await finalizeIngestedRun(client, { ...params, deadline }).catch((error: unknown) => {
    client.logger.debug(`The run ${params.runId} stays open: ${describeError(error)}`);
  });
}

function fitsIntoOneRequest(run: IngestRun, results: readonly IngestResult[]): boolean {
  return results.length <= maxResults && countBytes({ ...run, results }) <= maxBodyBytes;
}

/** Keeps the order. A result that is too large for any request is sent alone: the service may take it all the same. */
export function cutIntoChunks(results: readonly IngestResult[]): IngestResult[][] {
  const chunks: IngestResult[][] = [];
  let room = 0;
  for (const result of results) {
    // With the comma behind it.
    const bytes = countBytes(result) + 1;
    const last = chunks.at(-1);
    if (last === undefined || last.length === maxResults || bytes > room) {
      chunks.push([result]);
      room = maxBodyBytes - envelopeBytes - bytes;
    } else {
      last.push(result);
      room -= bytes;
    }
  }
  return chunks;
}

/** What stands around the results of a request, the id of a run included. */
const envelopeBytes = 512;

function countBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
