import { appendAll } from '../base/lists.ts';
import type { Iteration, StepResult } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { walkPages } from './pages.ts';
import { askPatiently, lagPatience } from './patience.ts';
import { parseAs, parseIterationPage, parseStepPage } from './parse.ts';
import { traceSchema } from './wire.ts';
import type { WireTrace } from './wire.ts';

/** The API's largest; its default of 50 would take four times the requests. */
const pageSize = 200;

const purpose = 'finish';

const parseTrace = parseAs(traceSchema, 'a trace');

interface IterationParams extends CallOptions {
  projectId: string;
  runId: string;
  iterationId: string;
}

/**
 * Lists the iterations of a run page by page, each iteration once; one that a later page contradicts in its case or its result
 * comes again as that page has it. Ends only when every page was read.
 *
 * @throws {ProtocolError} when the service's cursors lead nowhere
 */
export function listIterations(
  client: ServiceClient,
  params: { projectId: string; runId: string } & CallOptions,
): AsyncGenerator<Iteration[]> {
  const { projectId, runId, ...options } = params;
  const path = [...client.profile.runPath(projectId), runId, 'iterations'];
  const loadPage = async (cursor: string | undefined) => {
    const query = { limit: pageSize, cursor };
    const load = () => client.call({ method: 'GET', path, query, purpose, parse: parseIterationPage, ...options });
    return askPatiently(client, load, { ...options, patience: lagPatience });
  };
  return walkPages(loadPage, {
    what: 'iterations',
    idOf: (iteration) => iteration.id,
    contentOf: ({ testCaseId, status, result }) => JSON.stringify([testCaseId, status, result]),
  });
}

/** Lists the outcome of each step of an iteration, in their order. Empty for runs that did not record it. */
export async function listSteps(client: ServiceClient, params: IterationParams): Promise<StepResult[]> {
  const { projectId, runId, iterationId, ...options } = params;
  const path = [...client.profile.runPath(projectId), runId, 'iterations', iterationId, 'steps'];
  const loadPage = async (cursor: string | undefined) =>
    client.call({ method: 'GET', path, query: { cursor }, purpose, parse: parseStepPage, ...options });
  const steps: StepResult[] = [];
  for await (const page of walkPages(loadPage, { what: 'steps', idOf: (step) => `${step.stepIndex} ${step.stepId}` })) {
    appendAll(steps, page);
  }
  return steps;
}

/** Gets the trace of an iteration: an open document, any part of which may be missing. */
export async function getTrace(client: ServiceClient, params: IterationParams): Promise<WireTrace> {
  const { projectId, runId, iterationId, ...options } = params;
  const path = [...client.profile.runPath(projectId), runId, 'iterations', iterationId, 'trace'];
  return client.call({ method: 'GET', path, purpose, parse: parseTrace, ...options });
}
