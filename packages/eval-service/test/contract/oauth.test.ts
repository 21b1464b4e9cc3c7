import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logger.ts';
import { Secret } from '../../../../src/base/redaction.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import { createApiCaller } from '../../../../test/support/service/api-caller.ts';
import { json, startHttpServer } from '../../../../test/support/network/http-server.ts';
import {
  type FixtureMcpServer,
  startFixtureMcpServer,
  text,
} from '../../../../test/support/servers/fixture-mcp-server.ts';
import {
  guardWithTokens,
  oauthClient,
  type OAuthServer,
  startOAuthServer,
} from '../../../../test/support/servers/oauth-server.ts';

function holdKey(name: string) {
  const user = { id: `user_${name}`, email: `${name}@localhost`, name };
  const caller = { keyId: `key_${name}`, user, organizationId: 'org_one', role: 'member' as const };
  return { secret: new Secret(`sk_${name}`), caller };
}

describe('a server that needs a grant', () => {
  let oauth: OAuthServer;
  let server: FixtureMcpServer;
  let service: ContractService;
  let serverId: string;
  beforeEach(async () => {
    oauth = await startOAuthServer();
    server = await startFixtureMcpServer({ echo: { call: () => text('hi') } }, { guard: guardWithTokens(oauth) });
    const opened = await openContractService({ keys: [holdKey('one'), holdKey('two')] });
    const apiKey = 'sk_one';
    const project = createApiCaller(`${opened.baseUrl}/projects/${opened.projectId}`, apiKey);
    service = { ...opened, apiKey, project };
    serverId = await saveServer(service, { url: server.url });
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await oauth[Symbol.asyncDispose]();
  });

  /** As a browser flow would end: the tokens that the authorization server gave. */
  const sign = async (): Promise<string> => {
    const credentials = Buffer.from(`${oauthClient.id}:${oauthClient.secret}`).toString('base64');
    const response = await fetch(`${oauth.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ grant_type: 'authorization_code' }),
    });
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null && 'access_token' in body ? String(body.access_token) : '';
  };
  const renewable = { clientInformation: { clientId: oauthClient.id, clientSecret: oauthClient.secret } };

  it.each(ways.flatMap((way) => ['validateServer', 'listTools', 'exportServer'].map((name) => ({ ...way, name }))))(
    '$name answers 401: no tokens ($way)',
    async ({ open, name }) => {
      expect(await open(service)(name, { serverId })).toMatchObject({ status: 401, code: 'OAUTH_REQUIRED' });
    },
  );

  it.each(ways)('createEvalRun answers 401: a server that needs a grant ($way)', async ({ open }) => {
    const { suiteId } = await saveSuite(service, serverId);
    expect(await open(service)('createEvalRun', { suiteId })).toMatchObject({ status: 401, code: 'OAUTH_REQUIRED' });
  });

  it.each(ways)('runDoctor answers 200: a server that needs a grant ($way)', async ({ open }) => {
    const { body } = await open(service)('runDoctor', { serverId });
    expect(body).toMatchObject({ status: 'oauth_required', error: { code: 'OAUTH_REQUIRED' } });
  });

  it.each(ways)('importOAuthTokens answers 200: every later call carries them ($way)', async ({ open }) => {
    const send = open(service);
    const tokens = { access_token: await sign(), expires_in: 3600 };
    const imported = await send('importOAuthTokens', { serverId, serverUrl: `${server.url}/`, tokens });
    expect(imported).toMatchObject({ status: 200, body: { imported: true, expiresAt: expect.any(Number) } });
    expect((await send('listTools', { serverId })).body).toMatchObject({ items: [{ name: 'echo' }] });
    const doctor = await send('runDoctor', { serverId });
    expect(doctor.body).toMatchObject({ status: 'ready' });
    const { suiteId } = await saveSuite(service, serverId, [inlineTest()]);
    const { body: run } = await send('createEvalRun', { suiteId });
    expect(await waitForEnd(service, run.runId)).toMatchObject({ status: 'completed', result: 'passed' });
    const record = await send('getProjectServer', { serverId });
    const { body: iterations } = await service.project.get(`/eval-runs/${run.runId}/iterations`);
    expect(JSON.stringify([imported, doctor, record, iterations])).not.toContain(tokens.access_token);
  });

  it.each(ways)('importOAuthTokens answers 400: the URL of another server ($way)', async ({ open }) => {
    const other = { serverId, serverUrl: 'https://example.test/mcp', tokens: { access_token: 'at' } };
    expect(await open(service)('importOAuthTokens', other)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('importOAuthTokens answers 404: a server that does not exist ($way)', async ({ open }) => {
    const missing = { serverId: 'srv_missing', serverUrl: server.url, tokens: { access_token: 'at' } };
    expect(await open(service)('importOAuthTokens', missing)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it('lets in only the user who brought the tokens', async () => {
    await service.project.post(`/servers/${serverId}/oauth/import-tokens`, {
      serverUrl: server.url,
      tokens: { access_token: await sign() },
    });
    const other = createApiCaller(`${service.baseUrl}/projects/${service.projectId}`, 'sk_two');
    expect((await service.project.post(`/servers/${serverId}/tools`)).status).toBe(200);
    expect(await other.post(`/servers/${serverId}/tools`)).toMatchObject({
      status: 401,
      body: { code: 'OAUTH_REQUIRED' },
    });
  });

  it.each([
    ['passes', 'one', 'sk_one'],
    ['does not start', 'two', 'sk_two'],
  ])('%s in a scheduled run if user %s set the schedule', async (outcome, _user, key) => {
    const clock = new ManualClock();
    const refusal = Promise.withResolvers<string>();
    const logger = { ...silentLogger, warning: (message: string) => refusal.resolve(message) };
    await using opened = await openContractService({ clock, logger, keys: [holdKey('one'), holdKey('two')] });
    const as = (apiKey: string) => createApiCaller(`${opened.baseUrl}/projects/${opened.projectId}`, apiKey);
    const scheduled = { ...opened, apiKey: 'sk_one', project: as('sk_one') };
    const id = await saveServer(scheduled, { url: server.url });
    const tokens = { access_token: await sign() };
    await scheduled.project.post(`/servers/${id}/oauth/import-tokens`, { serverUrl: server.url, tokens });
    const { suiteId } = await saveSuite(scheduled, id);
    const schedule = { enabled: true, intervalMinutes: 5 };
    await scheduled.project.patch(`/eval-suites/${suiteId}/schedule`, schedule);
    await as(key).patch(`/eval-suites/${suiteId}/schedule`, schedule);
    const before = server.events.length;
    const { body: detail } = await scheduled.project.get(`/eval-suites/${suiteId}`);
    expect(detail.schedule).toEqual({ ...schedule, environmentId: null });
    await clock.advance(5 * 60_000);
    const list = async () => (await scheduled.project.get(`/eval-suites/${suiteId}/runs`)).body.items;
    if (outcome === 'passes') {
      await expect.poll(async () => (await list())[0]?.result).toBe('passed');
      expect(await list()).toMatchObject([{ source: 'schedule' }]);
      return;
    }
    expect(await refusal.promise).toContain('needs an OAuth grant');
    expect(await list()).toEqual([]);
    expect(server.events.slice(before)).not.toContain('call echo');
  });

  it.each([
    ['are refreshed where they can be', renewable, 200],
    ['are asked for again where they cannot', {}, 401],
  ])('takes tokens that %s', async (_, client, status) => {
    const tokens = { access_token: await sign(), refresh_token: 'rt-1' };
    const sent = { serverUrl: server.url, tokens, ...client };
    expect((await service.project.post(`/servers/${serverId}/oauth/import-tokens`, sent)).status).toBe(200);
    oauth.revoke();
    expect((await service.project.post(`/servers/${serverId}/tools`)).status).toBe(status);
    expect((await service.project.post(`/servers/${serverId}/tools`)).status).toBe(status);
    const refreshed = oauth.requests.filter((body) => body.get('grant_type') === 'refresh_token');
    expect(refreshed.map((body) => body.get('refresh_token'))).toEqual(status === 200 ? ['rt-1'] : []);
  });

  it('refreshes tokens that have expired before it uses them', async () => {
    const tokens = { access_token: 'expired', refresh_token: 'rt-1', expires_in: 0 };
    await service.project.post(`/servers/${serverId}/oauth/import-tokens`, {
      serverUrl: server.url,
      tokens,
      ...renewable,
    });
    expect((await service.project.post(`/servers/${serverId}/tools`)).status).toBe(200);
  });

  it('sends no tokens to a URL that the record gets later', async () => {
    const tokens = { access_token: await sign() };
    await service.project.post(`/servers/${serverId}/oauth/import-tokens`, { serverUrl: server.url, tokens });
    const seen: string[] = [];
    await using thief = await startHttpServer((response, request) => {
      seen.push(JSON.stringify(request.headers));
      return json(500, {})(response, request);
    });
    await service.project.patch(`/servers/${serverId}`, { url: `${thief.origin}/mcp` });
    expect((await service.project.post(`/servers/${serverId}/tools`)).status).toBe(502);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.join('\n')).not.toContain(tokens.access_token);
  });

  it('that asks for OAuth in its record is not connected to without tokens', async () => {
    await service.project.patch(`/servers/${serverId}`, { useOAuth: true, url: 'http://127.0.0.1:9/mcp' });
    expect((await service.project.post(`/servers/${serverId}/validate`)).body).toMatchObject({
      code: 'OAUTH_REQUIRED',
      details: { serverId },
    });
  });
});
