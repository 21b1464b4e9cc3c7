import { ProtocolError, ServiceError } from '../base/errors.ts';
import type { Secret } from '../base/redaction.ts';
import type { MatchOptions, TestCase } from '../cases/case.ts';
import { isTerminalStatus, type Run } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs, parseRun, parseRuns } from './parse.ts';
import { fillPath, runCancelPath, runPath, runsPath, suiteRunsPath } from './paths.ts';
import { runCreatedSchema, type WireRunCreated } from './wire.ts';

/**
 * A run to be started. `suiteId` alone runs the suite as it stands; with `tests`, they are first written into it;
 * `suiteName`, `tests` and `serverIds` make a new suite. The API refuses other shapes and fields it does not know.
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
  /** Percent, 0..100: the wire's own scale. */
  passCriteria?: { minimumPassRate: number };
  notes?: string;
  /** A label that the runs of a comparison share. */
  runGroupId?: string;
  /** Of the providers whose models the run uses, by the provider's name. */
  modelApiKeys?: ReadonlyMap<string, Secret>;
}

interface RunParams extends CallOptions {
  projectId: string;
  runId: string;
}

const parseRunCreated = parseAs(runCreatedSchema, 'the receipt of a run');

/**
 * Starts a run. With a key of at most 256 characters, a repeated launch gets the run of the first one (`deduped`)
 * instead of another.
 *
 * @throws {ConfigurationError} when the service refuses it for good
 */
export async function createRun(
  client: ServiceClient,
  { projectId, run, ...options }: { projectId: string; run: NewRun; idempotencyKey?: string } & CallOptions,
): Promise<WireRunCreated> {
  const { idempotencyKey } = options;
  const { modelApiKeys, ...fields } = run;
  const keys = [...(modelApiKeys ?? [])];
  const body = {
    ...fields,
    ...(keys.length === 0
      ? {}
      : { modelApiKeys: Object.fromEntries(keys.map(([provider, key]) => [provider, key.reveal()])) }),
    // In the body as well: the only place that every deployment reads.
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  const secrets = keys.map(([, key]) => key);
  const path = fillPath(runsPath, { projectId });
  const kind = { isSlow: true, isSetup: true };
  return client.call({ method: 'POST', path, body, secrets, ...kind, parse: parseRunCreated, ...options });
}

/**
 * Gets a run as it stands now.
 *
 * @throws {ProtocolError} when the service answers with another run
 */
export async function getRun(client: ServiceClient, params: RunParams): Promise<Run> {
  const parse = (answer: unknown) => requireRun(parseRun(answer), params.runId);
  return client.call({ method: 'GET', path: fillPath(runPath, params), priority: 'normal', parse, ...params });
}

/** Cancels a run and gives it as it then stands. A run that had already ended is given as it ended. */
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

/** Sees to it that a run does not go on. That it had ended before is as good, and 409 says no less. */
export async function stopRun(client: ServiceClient, params: RunParams): Promise<void> {
  try {
    await requestCancel(client, params);
  } catch (error) {
    if (!mayHaveEnded(error)) throw error;
    if (error.status !== 409 && !isTerminalStatus((await getRun(client, params)).status)) throw error;
  }
}

async function requestCancel(client: ServiceClient, params: RunParams): Promise<Run> {
  const path = fillPath(runCancelPath, params);
  const parse = (answer: unknown) => requireRun(parseRun(answer), params.runId);
  return client.call({ method: 'POST', path, isRepeatable: true, priority: 'high', parse, ...params });
}

/** The results of another run would be judged as those of this one. */
function requireRun(run: Run, runId: string): Run {
  if (run.id === runId) return run;
  throw new ProtocolError(
    `The service answered with run ${JSON.stringify(run.id)} instead of run ${JSON.stringify(runId)}.`,
    { path: 'id', hint: 'Run the job again; if it happens again, report it to the operator of the service.' },
  );
}

/** Deployments refuse to cancel what has ended with one of two statuses; the 400 may also mean something else. */
function mayHaveEnded(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.status === 409 || error.status === 400);
}

/** Lists the latest runs of a suite, newest first, at most 100. The API gives no cursor to go further back. */
export async function listSuiteRuns(
  client: ServiceClient,
  params: { projectId: string; suiteId: string; limit?: number } & CallOptions,
): Promise<Run[]> {
  const path = fillPath(suiteRunsPath, params);
  const query = { limit: params.limit ?? 25 };
  return client.call({ method: 'GET', path, query, parse: parseRuns, ...params });
}
