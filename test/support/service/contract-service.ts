import { systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { openEmbeddedService, type EmbeddedOptions } from '../../../packages/eval-service/src/open-service.ts';
import { createApiCaller, type ApiCaller } from './api-caller.ts';

/** An implementation of the eval API to test: only a base URL, a key and a project. */
export interface ContractService extends AsyncDisposable {
  baseUrl: string;
  apiKey: string;
  projectId: string;
  /** Paths start after the base URL. */
  root: ApiCaller;
  /** Paths start after the project. */
  project: ApiCaller;
}

export async function openContractService(overrides: Partial<EmbeddedOptions> = {}): Promise<ContractService> {
  const options = { clock: systemClock, logger: silentLogger, concurrency: 4, ...overrides };
  const service = await openEmbeddedService(options);
  const apiKey = service.apiKey.reveal();
  return {
    baseUrl: service.baseUrl,
    apiKey,
    projectId: service.projectId,
    root: createApiCaller(service.baseUrl, apiKey),
    project: createApiCaller(`${service.baseUrl}/projects/${service.projectId}`, apiKey),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** Saves an HTTP server record and returns its id. By default, nothing listens at its URL. */
export async function saveServer({ project }: ContractService, fields: { name?: string; url?: string } = {}) {
  const record = { name: 'demo', enabled: true, transportType: 'http', url: 'http://127.0.0.1:9/mcp', ...fields };
  const { body } = await project.post('/servers', record);
  return String(body.id);
}

/** An inline test that calls one tool, which must not fail. */
export function inlineTest(toolName = 'echo', fields: Record<string, unknown> = {}) {
  const steps = [
    { id: 's1', kind: 'toolCall', serverName: '', toolName, arguments: {} },
    { id: 's2', kind: 'assert', assertion: { type: 'noToolErrors' } },
  ];
  return { title: `Calls ${toolName}`, steps, ...fields };
}

/** Saves a suite of these tests and returns its id and the ids of its cases. */
export async function saveSuite(
  { project }: ContractService,
  serverId: string,
  tests: unknown[] = [inlineTest()],
  fields: Record<string, unknown> = {},
) {
  const suite = { name: 'A suite', serverIds: [serverId], model: 'none/none', tests, ...fields };
  const { body } = await project.post('/eval-suites', suite);
  const committed: Array<{ id: string }> = body.caseUpsert.committed;
  return { suiteId: String(body.suiteId), caseIds: committed.map(({ id }) => id) };
}

/** Polls until the run has ended and returns it. If it never ends, the time limit of the test ends the wait. */
export async function waitForEnd({ project }: ContractService, runId: string) {
  let pauseMs = 10;
  for (;;) {
    const { body } = await project.get(`/eval-runs/${runId}`);
    if (body.status !== 'running' && body.status !== 'pending') return body;
    // A long run is polled less often.
    pauseMs = Math.min(pauseMs + 2, 100);
    await systemClock.sleep(pauseMs);
  }
}
