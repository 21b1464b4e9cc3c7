import * as fc from 'fast-check';
import { z } from 'zod';
import { listPaths, type Operation } from '../../../src/service/operations/operation.ts';
import { listOperations } from '../../../src/service/operations/table.ts';
import { drawRequest, type KnownIds, type RandomRequest } from './random-request.ts';
import { createTestApp } from './test-app.ts';

/** The answers to random requests. */
export interface RouterFuzz {
  /** The number of answers by status. */
  statuses: ReadonlyMap<number, number>;
  /** The operations that succeeded at least once. */
  succeeded: ReadonlySet<string>;
  /** One line for each answer that no client may get. */
  faults: string[];
}

const requestsPerService = 100;
const envelope = z.strictObject({
  code: z.string().min(1),
  message: z.string().min(1),
  details: z.record(z.string(), z.unknown()).exactOptional(),
});
const idNames = [
  'projectId',
  'serverId',
  'suiteId',
  'caseId',
  'runId',
  'iterationId',
  'hostId',
  'environmentId',
] as const;
/** Placeholders for ids, because each service has new ones and building the description of a random request takes long. */
const placeholders = Object.fromEntries(idNames.map((name) => [name, `id-of-${name}`]));
const requests = drawRequest(placeholders);
const mount = 'http://127.0.0.1/api/v1';

/**
 * Sends random requests to the API, without a socket, to a new service after each 100. An answer is a fault unless it is the documented success or
 * an enveloped 4xx; 502 and 504 are allowed if the operation dials a server. `seed` repeats a run.
 */
export async function fuzzRouter(total: number, seed: number): Promise<RouterFuzz> {
  const statuses = new Map<number, number>();
  const succeeded = new Set<string>();
  const faults: string[] = [];
  for (let sent = 0; sent < total; sent += requestsPerService) {
    const service = createTestApp();
    const ids = await saveRecords(service.app);
    const count = Math.min(requestsPerService, total - sent);
    for (const drawn of fc.sample(requests, { numRuns: count, seed: seed + sent })) {
      const request = nameRecords(drawn, ids);
      const { status, text } = await send(service.app, request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const operation = findOperation(request);
      if (operation?.status === status) succeeded.add(operation.name);
      const fault = judge(operation, status, text);
      if (fault !== null) faults.push(`${printRequest(request)}: ${status} ${fault} ${service.errors.at(-1) ?? ''}`);
    }
    await service.app[Symbol.asyncDispose]();
    service.store.close();
  }
  return { statuses, succeeded, faults };
}

interface FetchedApp {
  fetch: (request: Request) => Response | Promise<Response>;
}

async function send({ fetch }: FetchedApp, { method, path, headers, body }: RandomRequest) {
  const response = await fetch(new Request(mount + path, { method, headers, ...(body !== undefined && { body }) }));
  return { status: response.status, text: await response.text() };
}

function nameRecords({ path, body, ...request }: RandomRequest, ids: KnownIds): RandomRequest {
  const name = (text: string) => text.replaceAll(/id-of-(\w+)/g, (_, id: string) => ids[id] ?? 'none');
  return { ...request, path: name(path), body: body && name(body) };
}

function printRequest({ method, path, headers, body }: RandomRequest): string {
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)} ${body?.slice(0, 600) ?? ''}`;
}

function findOperation({ method, path }: RandomRequest): Operation | undefined {
  // URL resolves `/projects/..`, so a short path may remain.
  const { pathname } = new URL(mount + path);
  const fits = (known: string) => new RegExp(`^/api/v1${known.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
  return listOperations().find(
    (operation) => operation.method === method && listPaths(operation).some((known) => fits(known)),
  );
}

/** Explains why an answer is a fault; null if a client may get it. */
function judge(operation: Operation | undefined, status: number, text: string): string | null {
  const body = parseJson(text);
  if (operation !== undefined && status === operation.status) {
    const parsed = operation.answer.safeParse(body);
    return parsed.success ? null : `is not the described answer: ${parsed.error.issues[0]?.message}`;
  }
  const isRefusal = status >= 400 && status < 500;
  const isUnreachable = operation?.isSlow === true && (status === 502 || status === 504);
  if (!isRefusal && !isUnreachable) return `is not documented: ${text.slice(0, 200)}`;
  return envelope.safeParse(body).success ? null : `is not enveloped: ${text.slice(0, 200)}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Fills a service with one record of each kind. */
async function saveRecords(app: FetchedApp): Promise<KnownIds> {
  const ask = async (method: string, path: string, body?: unknown): Promise<z.output<typeof answerShape>> => {
    const headers = { authorization: 'Bearer sk_test', 'content-type': 'application/json' };
    const { status, text } = await send(app, {
      method,
      path,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return answerShape.parse(JSON.parse(text));
  };
  const { id: projectId = '' } = await ask('POST', '/projects', { name: 'Fuzzed' });
  const project = `/projects/${projectId}`;
  const url = 'http://127.0.0.1:9/mcp';
  const server = { name: 'demo', enabled: true, transportType: 'http', url };
  const { id: serverId = '' } = await ask('POST', `${project}/servers`, server);
  const tests = [{ title: 'Calls echo', steps: [{ id: 's1', kind: 'prompt', prompt: 'Say it.' }] }];
  const suite = { name: 'A suite', serverIds: [serverId], model: 'none/none', tests };
  const { suiteId = '', caseUpsert } = await ask('POST', `${project}/eval-suites`, suite);
  const report = { suiteName: 'Reported', externalRunId: 'e1', results: [{ caseTitle: 'Calls echo', passed: true }] };
  const { runId = '' } = await ask('POST', `${project}/eval-ingest/report`, report);
  const { items = [] } = await ask('GET', `${project}/eval-runs/${runId}/iterations`);
  const { id: hostId = '' } = await ask('POST', `${project}/hosts`, { name: 'A host', template: 'claude' });
  await ask('POST', `${project}/hosts/${hostId}/servers`, { serverIds: [serverId] });
  const caseId = caseUpsert?.committed[0]?.id ?? '';
  const iterationId = items[0]?.id ?? '';
  const environment = { name: 'An environment', hostId };
  const { id: environmentId = '' } = await ask('POST', `${project}/environments`, environment);
  return { projectId, serverId, suiteId, caseId, runId, iterationId, hostId, environmentId };
}

const answerShape = z.looseObject({
  id: z.string().exactOptional(),
  suiteId: z.string().exactOptional(),
  runId: z.string().exactOptional(),
  items: z.array(z.looseObject({ id: z.string() })).exactOptional(),
  caseUpsert: z.looseObject({ committed: z.array(z.looseObject({ id: z.string() })) }).exactOptional(),
});
