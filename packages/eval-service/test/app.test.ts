import { describe, expect, it } from 'vitest';
import { NetworkError } from '../../../src/base/errors.ts';
import { openContractService } from '../../../test/support/service/contract-service.ts';
import { createTestApp } from '../../../test/support/service/test-app.ts';

describe('the API as a function', () => {
  it('answers without a socket', async () => {
    await using service = createTestApp();
    const { get, store } = service;
    const response = await get('/api/v1/projects');
    expect(await response.json()).toEqual({ items: [] });
    store.close();
  });

  it('reads a body without a socket', async () => {
    await using service = createTestApp();
    const { app, store } = service;
    const headers = { authorization: 'Bearer sk_test' };
    const init = { method: 'POST', headers, body: '{"name":"Sent"}' };
    const response = await app.fetch(new Request('http://127.0.0.1/api/v1/projects', init));
    expect(response.status).toBe(201);
    expect(store.projects.list().map(({ name }) => name)).toEqual(['Sent']);
    store.close();
  });

  it('knows nothing outside its mount', async () => {
    await using service = createTestApp();
    const { get, store } = service;
    expect((await get('/me')).status).toBe(404);
    expect((await get('/api/v2/me')).status).toBe(404);
    store.close();
  });

  it('writes what went wrong inside to its log, and does not send it to the client', async () => {
    await using service = createTestApp();
    const { get, store, errors } = service;
    store.close();
    const response = await get('/api/v1/projects/canary/servers');
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 500,
      body: { code: 'INTERNAL_ERROR', message: 'The service failed to answer; its log says why.' },
    });
    expect(errors).toContain('GET /api/v1/projects/:projectId/servers failed: statement has been finalized');
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
