import { appendAll } from '../base/lists.ts';
import type { Iteration, StepResult } from '../model/run.ts';
import { callOperation } from './call-operation.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { runOperations } from './operations/runs.ts';
import { parseAs, toIteration, toStepResult } from './parse.ts';
import { fillPath, stepsPath } from './paths.ts';
import { lagWaits, retryWhileStale } from './wait.ts';
import { walkPages } from './walk-pages.ts';
import { iterationPageSchema, stepPageSchema, type WireTrace } from './wire.ts';

/** Checks only the fields that the gate needs, because services may differ in the others. */
const listEvalRunIterations = { ...runOperations.listEvalRunIterations, answer: iterationPageSchema };

/** The API's maximum. The default of 50 would take four times as many requests. */
const pageSize = 200;

const priority = 'high';

const parseSteps = parseAs(stepPageSchema, 'a page of steps');

interface IterationParams extends CallOptions {
  projectId: string;
  runId: string;
  iterationId: string;
}

/**
 * Lists the iterations of a run page by page, each once. If a later page has another case or result for an iteration, the iteration is
 * yielded again. Ends only after every page was read.
 *
 * @throws {ProtocolError} when the service's cursors lead nowhere
 */
export function listIterations(
  client: ServiceClient,
  { projectId, runId, ...options }: { projectId: string; runId: string } & CallOptions,
): AsyncGenerator<Iteration[]> {
  const loadPage = async (cursor: string | undefined) => {
    const fields = { projectId, runId, limit: pageSize, ...(cursor !== undefined && { cursor }) };
    const load = () => callOperation(client, listEvalRunIterations, fields, { priority, ...options });
    const { items, nextCursor } = await retryWhileStale(client, load, { ...options, waits: lagWaits });
    return { items: items.map(toIteration), nextCursor };
  };
  return walkPages(loadPage, {
    what: 'iterations',
    idOf: (iteration) => iteration.id,
    contentOf: ({ testCaseId, status, result }) => JSON.stringify([testCaseId, status, result]),
  });
}

/** Lists the results of the steps of an iteration, in order. Empty for runs that did not record them. */
export async function listSteps(client: ServiceClient, params: IterationParams): Promise<StepResult[]> {
  const path = fillPath(stepsPath, params);
  const loadPage = async (cursor: string | undefined) => {
    const call = { method: 'GET', path, query: { cursor }, priority, parse: parseSteps, ...params } as const;
    const { items, nextCursor } = await client.call(call);
    return { items: items.map(toStepResult), nextCursor };
  };
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
export async function getTrace(
  client: ServiceClient,
  { projectId, runId, iterationId, ...options }: IterationParams,
): Promise<WireTrace> {
  const at = { projectId, runId, iterationId };
  return await callOperation(client, runOperations.getEvalIterationTrace, at, { priority, ...options });
}
