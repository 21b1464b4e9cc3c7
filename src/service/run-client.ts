import { ProtocolError, ServiceError } from '../base/errors.ts';
import type { Secret } from '../base/redaction.ts';
import type { MatchOptions, TestCase } from '../cases/case.ts';
import { isTerminalStatus, type Run } from '../model/run.ts';
import { callOperation, planCall } from './call-operation.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { runOperations } from './operations/runs.ts';
import { parseAs, toRun } from './parse.ts';
import { runPageSchema, runSchema, type WireRunCreated } from './wire.ts';

// Reads only the fields that the gate needs, because services may differ in the others.
const getEvalRun = { ...runOperations.getEvalRun, answer: runSchema };
const cancelEvalRun = { ...runOperations.cancelEvalRun, answer: runSchema };
const listEvalSuiteRuns = { ...runOperations.listEvalSuiteRuns, answer: runPageSchema };

/**
 * A run to start. `suiteId` alone runs the suite unchanged. With `tests`, the service first writes them into the suite. `suiteName`,
 * `tests` and `serverIds` create a new suite. The API refuses other combinations and unknown fields.
 */
export interface NewRun {
  suiteId?: string;
  suiteName?: string;
  suiteDescription?: string;
  tests?: readonly TestCase[];
  serverIds?: readonly string[];
  serverNames?: readonly string[];
  caseIds?: readonly string[];
  iterationOverride?: number;
  matchOptionsOverride?: MatchOptions;
  environmentId?: string;
  /** In percent, 0..100, the scale of the API. */
  passCriteria?: { minimumPassRate: number };
  notes?: string;
  /** A label that the runs of a comparison share. */
  runGroupId?: string;
  /** The keys of the model providers, by provider name. */
  modelApiKeys?: ReadonlyMap<string, Secret>;
}

interface RunParams extends CallOptions {
  projectId: string;
  runId: string;
}

/**
 * Starts a run. With an idempotency key of at most 256 characters, a repeated launch returns the first run (`deduped`) instead of starting
 * another.
 *
 * @throws {ConfigurationError} when the service refuses it permanently
 */
export async function createRun(
  client: ServiceClient,
  { projectId, run, ...options }: { projectId: string; run: NewRun; idempotencyKey?: string } & CallOptions,
): Promise<WireRunCreated> {
  const { modelApiKeys, ...fields } = run;
  const keys = [...(modelApiKeys ?? [])];
  const body = {
    ...fields,
    ...(keys.length > 0 && {
      modelApiKeys: Object.fromEntries(keys.map(([provider, key]) => [provider, key.reveal()])),
    }),
    // Sends the key in the body too, which is the only location that every deployment reads.
    ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
  };
  const secrets = keys.map(([, key]) => key);
  const call = planCall(runOperations.createEvalRun, { ...body, projectId }, client.profile);
  const parse = parseAs(runOperations.createEvalRun.answer, 'that of createEvalRun');
  return await client.call({ ...call, secrets, isSetup: true, parse, ...options });
}

/**
 * Gets the current state of a run.
 *
 * @throws {ProtocolError} when the service answers with another run
 */
export async function getRun(client: ServiceClient, { projectId, runId, ...options }: RunParams): Promise<Run> {
  const manner = { priority: 'normal', check: requireRun(runId), ...options } as const;
  return toRun(await callOperation(client, getEvalRun, { projectId, runId }, manner));
}

/** Cancels a run and returns its state after that. A run that had already ended is returned as it ended. */
export async function cancelRun(client: ServiceClient, params: RunParams): Promise<Run> {
  try {
    return await requestCancel(client, params);
  } catch (error) {
    if (!mayHaveEnded(error)) throw error;
    const run = await getRun(client, params);
    if (!isTerminalStatus(run.status)) throw error;
    return run;
  }
}

/** Makes sure that a run does not continue. A run that had already ended counts as stopped, and so does an answer of 409. */
export async function stopRun(client: ServiceClient, params: RunParams): Promise<void> {
  try {
    await requestCancel(client, params);
  } catch (error) {
    if (!mayHaveEnded(error)) throw error;
    if (error.status !== 409 && !isTerminalStatus((await getRun(client, params)).status)) throw error;
  }
}

async function requestCancel(client: ServiceClient, { projectId, runId, ...options }: RunParams): Promise<Run> {
  const manner = { priority: 'high', check: requireRun(runId), ...options } as const;
  return toRun(await callOperation(client, cancelEvalRun, { projectId, runId }, manner));
}

/** Refuses an answer with another run, because its results would be judged as those of this run. */
function requireRun(runId: string): (run: { id: string }) => void {
  return ({ id }) => {
    if (id === runId) return;
    throw new ProtocolError(
      `The service answered with run ${JSON.stringify(id)} instead of run ${JSON.stringify(runId)}.`,
      { path: 'id', hint: 'Run the job again; if it happens again, report it to the operator of the service.' },
    );
  };
}

/** Checks if a refusal to cancel may mean that the run has ended. Deployments answer 409 or 400; the 400 may also mean something else. */
function mayHaveEnded(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.status === 409 || error.status === 400);
}

/** Lists the latest runs of a suite, newest first, at most 100. The API has no cursor to older ones. */
export async function listSuiteRuns(
  client: ServiceClient,
  { limit = 25, projectId, suiteId, ...options }: { projectId: string; suiteId: string; limit?: number } & CallOptions,
): Promise<Run[]> {
  const fields = { projectId, suiteId, limit };
  return (await callOperation(client, listEvalSuiteRuns, fields, options)).items.map(toRun);
}
