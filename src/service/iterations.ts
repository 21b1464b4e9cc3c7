import { ProtocolError } from '../base/errors.ts';
import { appendAll } from '../base/lists.ts';
import type { Iteration, StepResult } from '../model/run.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { type Page, parseAs, parseIterationPage, parseStepPage } from './parse.ts';
import { fillPath, iterationsPath, stepsPath, tracePath } from './paths.ts';
import { lagWaits, retryWhileStale } from './wait.ts';
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

/** Far beyond any collection of this API, so that a service that invents pages without end does not hold us. */
const maxPages = 10_000;

/**
 * Walks a paged collection to its end and gives each page's new items. An item that repeats an earlier one, by `idOf` and
 * `contentOf`, is left out; one that contradicts it is given again, so that the reader sees both. `what` names the collection
 * in errors.
 *
 * @throws {ProtocolError} when the walk cannot end: a cursor comes a second time, or two pages running bring nothing new
 */
export async function* walkPages<Item>(
  loadPage: (cursor: string | undefined) => Promise<Page<Item>>,
  {
    what,
    idOf,
    contentOf = () => '',
  }: { what: string; idOf: (item: Item) => string; contentOf?: (item: Item) => string },
): AsyncGenerator<Item[]> {
  const seenContents = new Map<string, string>();
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  let wasBarren = false;

  for (let pageNumber = 1; pageNumber <= maxPages; pageNumber += 1) {
    const page = await loadPage(cursor);
    const seenBefore = seenContents.size;
    const fresh = page.items.filter((item) => {
      const content = contentOf(item);
      if (seenContents.get(idOf(item)) === content) return false;
      seenContents.set(idOf(item), content);
      return true;
    });
    if (fresh.length > 0) yield fresh;
    const isBarren = seenContents.size === seenBefore;

    cursor = page.nextCursor ?? '';
    if (cursor === '') return;
    if (seenCursors.has(cursor)) throw endlessWalk(what, `page ${pageNumber} leads back to an earlier one`);
    if (isBarren && wasBarren) throw endlessWalk(what, `pages ${pageNumber - 1} and ${pageNumber} bring nothing new`);
    seenCursors.add(cursor);
    wasBarren = isBarren;
  }
  throw endlessWalk(what, `${maxPages} pages were read and there are more`);
}

function endlessWalk(what: string, reason: string): ProtocolError {
  return new ProtocolError(`The list of ${what} does not end: ${reason}.`, { path: 'nextCursor' });
}
