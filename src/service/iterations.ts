import { appendAll } from '../base/lists.ts';
import type { Iteration, StepResult } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs, parseIterationPage, parseStepPage } from './parse.ts';
import { fillPath, iterationsPath, stepsPath, tracePath } from './paths.ts';
import { lagWaits, retryWhileStale } from './wait.ts';
import { walkPages } from './walk-pages.ts';
import { traceSchema, type WireTrace } from './wire.ts';

/** The API's largest; its default of 50 would take four times the requests. */
const pageSize = 200;

const priority = 'high';

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
  const path = fillPath(iterationsPath, params);
  const loadPage = async (cursor: string | undefined) => {
    const query = { limit: pageSize, cursor };
    const load = () => client.call({ method: 'GET', path, query, priority, parse: parseIterationPage, ...params });
    return retryWhileStale(client, load, { ...params, waits: lagWaits });
  };
  return walkPages(loadPage, {
    what: 'iterations',
    idOf: (iteration) => iteration.id,
    contentOf: ({ testCaseId, status, result }) => JSON.stringify([testCaseId, status, result]),
  });
}

/** Lists the outcome of each step of an iteration, in their order. Empty for runs that did not record it. */
export async function listSteps(client: ServiceClient, params: IterationParams): Promise<StepResult[]> {
  const path = fillPath(stepsPath, params);
  const loadPage = async (cursor: string | undefined) =>
    client.call({ method: 'GET', path, query: { cursor }, priority, parse: parseStepPage, ...params });
  const steps: StepResult[] = [];
  for await (const page of walkPages(loadPage, {
    what: 'steps',
    idOf: (step) => `${step.phase ?? ''} ${step.stepIndex} ${step.stepId}`,
  })) {
    appendAll(steps, page);
  }
  return steps;
}

/** Gets the trace of an iteration: an open document, any part of which may be missing. */
export async function getTrace(client: ServiceClient, params: IterationParams): Promise<WireTrace> {
  return client.call({ method: 'GET', path: fillPath(tracePath, params), priority, parse: parseTrace, ...params });
}
