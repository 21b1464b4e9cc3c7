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

/** A run that was executed here and is to be kept there. The service makes the suite where there is none of the name. */
export interface IngestRun {
  suiteName: string;
  suiteDescription?: string;
  serverNames?: readonly string[];
  notes?: string;
  /** Percent, 0..100: the wire's own scale. */
  passCriteria?: { minimumPassRate: number };
  /** Of this execution alone: sending it again returns the first verdict. */
  externalRunId: string;
  framework?: string;
  ci?: IngestCi;
  expectedIterations?: number;
  tags?: readonly string[];
}

/** Where it was executed. */
export interface IngestCi {
  provider?: string;
  pipelineId?: string;
  jobId?: string;
  runUrl?: string;
  branch?: string;
  commitSha?: string;
}

/** What one iteration came to. */
export interface IngestResult {
  caseTitle: string;
  passed: boolean;
  /** Of this iteration alone: a second one with it is skipped. */
  externalIterationId: string;
  externalCaseId?: string;
  durationMs?: number;
  provider?: string;
  model?: string;
  tokens?: { input?: number; output?: number; total?: number };
  expectedToolCalls?: readonly ToolCall[];
  actualToolCalls?: readonly ToolCall[];
  error?: string;
  /** An open document, as `getTrace` gives one. */
  trace?: object;
  metadata?: Readonly<Record<string, string | number | boolean>>;
}

/** `projectId` may be the literal `default`, which stands for the organization's own default project. */
interface IngestParams extends CallOptions {
  projectId: string;
}

/** Sends a run with all its results, and gives the verdict that the service makes of them. */
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

/** Opens a run whose results follow. One that is `reused` and has ended is to be left as it is. */
export async function startIngestedRun(
  client: ServiceClient,
  { run, ...params }: { run: IngestRun } & IngestParams,
): Promise<WireIngestedRun> {
  return post(client, ingestOperations.startEvalIngestRun, { ...params, body: run, answer: ingestedRunSchema });
}

/** Adds results to a run that is open. */
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

/** Ends an open run, and gives the verdict that the service makes of what it got. */
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

/** Calls an operation of ingestion, whose refusal may be an answer with status 200. */
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
