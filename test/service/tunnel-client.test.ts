import { describe, expect, it } from 'vitest';
import { createTunnel } from '../../src/service/tunnel-client.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { catchError, openTestClient } from '../support/service/service-client.ts';

const url = 'https://demo.tunnels.test/api/mcp/adapter-http/sv?k=k-canary';
const grant = { serverId: 'sv', url, connectToken: 'token-canary', relayWsUrl: 'wss://agent.tunnels.test/agent' };
const whole = {
  ...grant,
  name: 'demo',
  existed: true,
  previousUrl: 'https://other.test/mcp?key=previous-canary',
  previousTransportType: 'stdio',
  slug: 'demo',
  connectTokenExpiresAt: 5,
  secretVersion: 2,
};
const params = { projectId: 'p', name: 'demo' };

describe('createTunnel', () => {
  it('asks by name, and hides what is secret in the grant', async () => {
    await using server = await startHttpServer(json(201, { ...whole, more: 1 }));
    await using client = openTestClient(server);
    const created = await createTunnel(client, params);
    expect(server.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/api/v1/projects/p/tunnels', '{"name":"demo"}'],
    ]);
    expect(JSON.parse(JSON.stringify(created))).toEqual({
      serverId: 'sv',
      name: 'demo',
      existed: true,
      previousUrl: '***',
      previousTransportType: 'stdio',
      slug: 'demo',
      url: '***',
      connectToken: '***',
      connectTokenExpiresAtMs: 5,
      relayWsUrl: grant.relayWsUrl,
      secretVersion: 2,
      secrets: ['***', '***', '***', '***'],
    });
    expect(created.secrets.map((secret) => secret.reveal())).toEqual([
      url,
      'token-canary',
      'k-canary',
      whole.previousUrl,
    ]);
  });

  it('takes a grant that lacks what may be missing', async () => {
    await using server = await startHttpServer(json(201, grant));
    await using client = openTestClient(server);
    expect(await createTunnel(client, params)).toMatchObject({
      name: 'demo',
      existed: false,
      previousUrl: null,
      previousTransportType: null,
      slug: null,
      connectTokenExpiresAtMs: null,
      secretVersion: null,
    });
  });

  it.each([
    [{ ...grant, url: 'not a url k-canary' }, 'url'],
    [{ ...grant, connectToken: '' }, 'connectToken'],
    [{ ...grant, relayWsUrl: undefined }, 'relayWsUrl'],
    [{ ...grant, serverId: 5 }, 'serverId'],
  ])('refuses a grant that cannot be used, and quotes none of it: %j', async (answer, path) => {
    await using server = await startHttpServer(json(201, answer));
    await using client = openTestClient(server);
    const error = await catchError(createTunnel(client, params));
    expect(error).toMatchObject({ code: 'PROTOCOL', path });
    expect(error.message).not.toContain('canary');
  });

  it.each([
    [500, 'INTERNAL_ERROR', 5],
    [504, 'TIMEOUT', 5],
    [502, 'SERVER_UNREACHABLE', 3],
  ])('is sent again after %i, since no host is connected by a grant that was lost', async (status, code, times) => {
    await using server = await startHttpServer(json(status, { code, message: 'no' }));
    await using client = openTestClient(server);
    expect(await catchError(createTunnel(client, params))).toMatchObject({ code });
    expect(server.requests.length).toBe(times);
  });

  it('that is refused is a configuration error', async () => {
    await using server = await startHttpServer(json(403, { code: 'FORBIDDEN', message: 'no' }));
    await using client = openTestClient(server);
    expect(await catchError(createTunnel(client, params))).toMatchObject({
      exitCode: 2,
      issues: [{ code: 'refused-by-service' }],
      cause: { status: 403, code: 'FORBIDDEN' },
    });
    expect(server.requests.length).toBe(1);
  });

  it('is sent again after 429, which granted nothing', async () => {
    await using server = await startHttpServer([json(429, { code: 'RATE_LIMITED', message: 'no' }), json(201, grant)]);
    await using client = openTestClient(server);
    expect((await createTunnel(client, params)).serverId).toBe('sv');
    expect(server.requests.length).toBe(2);
  });
});
