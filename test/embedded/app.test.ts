import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { NetworkError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { Secret } from '../../src/base/redaction.ts';
import { localCaller } from '../../src/embedded/callers.ts';
import { createApp } from '../../src/embedded/app.ts';
import { createBodyReader } from '../../src/embedded/request.ts';
import { createBodySchemas } from '../../src/embedded/bodies/suite.ts';
import { defaultRelayLimits } from '../../src/embedded/limits.ts';
import { contractLimits as limits } from '../../src/service/limits.ts';
import { createProtocolTable } from '../../src/embedded/connect.ts';
import { createRelayEdge } from '../../src/embedded/relay/edge.ts';
import { createRunner } from '../../src/embedded/runner.ts';
import { openStore } from '../../src/embedded/store/open.ts';
import { openContractService } from '../support/service/contract-service.ts';

function createTestApp() {
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => errors.push(message) };
  const store = openStore(undefined);
  const limitsOfRuns = { iterationTimeoutMs: 1000, runTimeoutMs: 1000 };
  const times = { ...limitsOfRuns, propagatesTraces: false, witnesses: null, snapshots: null };
  const values = { variables: new Map<string, Secret>(), createUuid: () => 'uuid', browser: null };
  const protocols = createProtocolTable();
  const scheduling = {
    getConcurrency: () => ({ setting: 1, source: 'test', isIndependent: false, hasOneProcess: false }),
    onScheduled: () => {},
    onBatch: () => {},
  };
  const runner = createRunner({ store, protocols, clock: systemClock, logger, scheduling, ...times, ...values });
  const bodies = createBodySchemas(limits);
  const readBody = createBodyReader(limits.maxBodyBytes);
  const relay = createRelayEdge({ clock: systemClock, limits: defaultRelayLimits });
  const services = {
    store,
    runner,
    protocols,
    scheduling,
    relay,
    witnesses: null,
    models: null,
    defaultModel: null,
  };
  const context = { clock: systemClock, logger, limits, readBody, bodies, ...services, iterationTimeoutMs: 1000 };
  const app = createApp(context, {
    keys: [{ secret: new Secret('sk_test'), caller: localCaller }],
    rateLimit: null,
    createInventory: null,
  });
  const get = async (path: string): Promise<Response> =>
    app.fetch(new Request(`http://127.0.0.1${path}`, { headers: { authorization: 'Bearer sk_test' } }));
  return { get, store, errors };
}

describe('the API as a function', () => {
  it('answers without a socket', async () => {
    const { get, store } = createTestApp();
    const response = await get('/api/v1/projects');
    expect(await response.json()).toEqual({ items: [] });
    store.close();
  });

  it('knows nothing outside its mount', async () => {
    const { get, store } = createTestApp();
    expect((await get('/me')).status).toBe(404);
    expect((await get('/api/v2/me')).status).toBe(404);
    store.close();
  });

  it('writes what went wrong inside to its log, and does not send it to the client', async () => {
    const { get, store, errors } = createTestApp();
    store.close();
    const response = await get('/api/v1/projects/canary/servers');
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 500,
      body: { code: 'INTERNAL_ERROR', message: 'The service failed to answer; its log says why.' },
    });
    expect(errors).toEqual(['GET /api/v1/projects/:projectId/servers failed: statement has been finalized']);
  });
});

describe('opening the service', () => {
  it('reports a port in use', async () => {
    await using first = await openContractService();
    const port = Number(new URL(first.baseUrl).port);
    const second = openContractService({ port });
    await expect(second).rejects.toThrow(NetworkError);
    await expect(second).rejects.toThrow(`The eval service could not listen on port ${port} of 127.0.0.1.`);
  });
});
