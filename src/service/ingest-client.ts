import type { z } from 'zod';
import { describeError, ServiceError } from '../base/errors.ts';
import { clipText } from '../base/text.ts';
import { type Deadline, startDeadline } from '../base/time.ts';
import { isTerminalStatus, type ToolCall } from '../model/run.ts';
import { planCall } from './call-operation.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { ingestOperations } from './operations/ingest.ts';
import type { Operation } from './operations/operation.ts';
import { type Parse, parseAs } from './parse.ts';
import {
  ingestedIterationsSchema,
  ingestedRunSchema,
  ingestRefusalSchema,
  type WireIngestedIterations,
  type WireIngestedRun,
} from './wire.ts';

/** Limits of the API for one request. */
const maxResults = 200;
const maxBodyBytes = 2 ** 20;

/** The time to end a run that could not be filled. It is short because the caller has waited for long. */
const closingMs = 5000;

export interface IngestRunParams extends CallOptions {
  projectId: string;
  run: IngestRun;
  /** At least one result. */
  results: readonly IngestResult[];
}

/**
 * Uploads a run with all its results, in one request if they fit, else in several. If the service already has the same run and it has
 * ended, returns that run and sends nothing else. A run that was opened is ended in any case, if the service can be reached.
 *
 * @throws {GateError} of the request that failed
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

/** Checks if a run has ended; some answers have a result and no status. */
function hasVerdict({ status, result }: WireIngestedRun): boolean {
  return status == null ? result != null : isTerminalStatus(status);
}

/**
 * Ends a run that could not be filled, because the service never ends it by itself. Failures are only logged: the caller reports why the
 * run could not be filled.
 */
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

/** Cuts results into requests, in order. A result that exceeds the limit is sent alone, because the service may still accept it. */
export function cutIntoChunks(results: readonly IngestResult[]): IngestResult[][] {
  const chunks: IngestResult[][] = [];
  let room = 0;
  for (const result of results) {
    // The 1 is the comma after it.
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

/** Bytes around the results of a request, including the id of the run. */
const envelopeBytes = 512;

function countBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A run that was executed here and is stored in the service. The service creates the suite if it has none of this name. */
export interface IngestRun {
  suiteName: string;
  suiteDescription?: string;
  serverNames?: readonly string[];
  notes?: string;
  /** Percent, 0..100, the scale of the API. */
  passCriteria?: { minimumPassRate: number };
  /** Unique to this execution. Sending it again returns the first verdict. */
  externalRunId: string;
  framework?: string;
  ci?: IngestCi;
  expectedIterations?: number;
  tags?: readonly string[];
}

/** The CI job that executed the run. */
export interface IngestCi {
  provider?: string;
  pipelineId?: string;
  jobId?: string;
  runUrl?: string;
  branch?: string;
  commitSha?: string;
}

/** The result of one iteration. */
export interface IngestResult {
  caseTitle: string;
  passed: boolean;
  /** Unique to this iteration. The service skips a second result with the same id. */
  externalIterationId: string;
  externalCaseId?: string;
  durationMs?: number;
  provider?: string;
  model?: string;
  tokens?: { input?: number; output?: number; total?: number };
  expectedToolCalls?: readonly ToolCall[];
  actualToolCalls?: readonly ToolCall[];
  error?: string;
  /** An open document in the form that `getTrace` returns. */
  trace?: object;
  metadata?: Readonly<Record<string, string | number | boolean>>;
}

/** `projectId` may be the literal `default`, which means the default project of the organization. */
interface IngestParams extends CallOptions {
  projectId: string;
}

/** Uploads a run with all its results, and returns the verdict of the service. */
export async function reportRun(
  client: ServiceClient,
  { run, results, ...params }: { run: IngestRun; results: readonly IngestResult[] } & IngestParams,
): Promise<WireIngestedRun> {
  return post(client, ingestOperations.reportEvalRun, {
    ...params,
    body: { ...run, results },
    answer: ingestedRunSchema,
  });
}

/** Opens a run whose results follow. Leave a run unchanged that is `reused` and has ended. */
export async function startIngestedRun(
  client: ServiceClient,
  { run, ...params }: { run: IngestRun } & IngestParams,
): Promise<WireIngestedRun> {
  return post(client, ingestOperations.startEvalIngestRun, { ...params, body: run, answer: ingestedRunSchema });
}

/** Adds results to an open run. */
export async function addIngestedIterations(
  client: ServiceClient,
  { runId, results, ...params }: { runId: string; results: readonly IngestResult[] } & IngestParams,
): Promise<WireIngestedIterations> {
  return post(client, ingestOperations.ingestEvalRunIterations, {
    ...params,
    body: { runId, results },
    answer: ingestedIterationsSchema,
  });
}

/** Ends an open run, and returns the verdict of the service. */
export async function finalizeIngestedRun(
  client: ServiceClient,
  { runId, externalRunId, ...params }: { runId: string; externalRunId: string } & IngestParams,
): Promise<WireIngestedRun> {
  return post(client, ingestOperations.finalizeEvalIngestRun, {
    ...params,
    body: { runId, externalRunId },
    answer: ingestedRunSchema,
  });
}

/** Calls an operation of ingestion. A refusal may be an answer with status 200. */
async function post<Answer extends z.ZodType>(
  client: ServiceClient,
  operation: Operation,
  { projectId, body, answer, ...options }: { body: object; answer: Answer } & IngestParams,
): Promise<z.output<Answer>> {
  const call = planCall(operation, { ...body, projectId }, client.profile);
  const parse = parseIngested(answer, `that of ${operation.name}`);
  return client.call({ ...call, priority: 'high', parse, ...options });
}

const longestRefusal = 500;

function parseIngested<Schema extends z.ZodType>(schema: Schema, what: string): Parse<z.output<Schema>> {
  const parse = parseAs(schema, what);
  return (answer) => {
    const refused = ingestRefusalSchema.safeParse(answer);
    if (!refused.success) return parse(answer);
    const { error } = refused.data;
    const reason = clipText(
      typeof error === 'string' ? error : (JSON.stringify(error) ?? 'no reason given'),
      longestRefusal,
    );
    throw new ServiceError(`The service does not take the results: ${reason}`, { code: 'REFUSED', status: 200 });
  };
}
