import { describe, expect, it } from 'vitest';
import { getServer, updateServer } from '../../src/service/servers.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { openTestClient } from '../support/service/service-client.ts';

const place = { projectId: 'p_1', serverId: 'sv/1' };
const record = { id: 'sv/1', name: 'demo', enabled: true, transportType: 'http', url: 'https://mcp.example/' };
const notFound = json(404, { code: 'NOT_FOUND', message: 'No server.' });

describe('getServer', () => {
  it('gives the record', async () => {
    await using server = await startHttpServer(json(200, record));
    await using client = openTestClient(server);
    expect(await getServer(client, place)).toEqual(record);
    expect(server.requests).toMatchObject([{ method: 'GET', url: '/api/v1/projects/p_1/servers/sv%2F1', body: '' }]);
  });

  it('fails where there is none', async () => {
    await using server = await startHttpServer(notFound);
    await using client = openTestClient(server);
    await expect(getServer(client, place)).rejects.toMatchObject({ status: 404 });
  });
});

describe('updateServer', () => {
  it('sends the changes alone and gives the record as it then stands', async () => {
    await using server = await startHttpServer(json(200, { ...record, enabled: false }));
    await using client = openTestClient(server);
    expect(await updateServer(client, { ...place, changes: { enabled: false } })).toEqual({
      ...record,
      enabled: false,
    });
    expect(server.requests).toMatchObject([
      { method: 'PATCH', url: '/api/v1/projects/p_1/servers/sv%2F1', body: '{"enabled":false}' },
    ]);
  });

  it('is repeated after a 503, because setting a field twice is setting it once', async () => {
    await using server = await startHttpServer([json(503, {}), json(200, record)]);
    await using client = openTestClient(server);
    expect(await updateServer(client, { ...place, changes: { name: 'demo' } })).toEqual(record);
  });

  it('fails where there is none', async () => {
    await using server = await startHttpServer(notFound);
    await using client = openTestClient(server);
    await expect(updateServer(client, { ...place, changes: {} })).rejects.toMatchObject({ status: 404 });
  });
});
