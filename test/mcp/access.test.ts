import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import { createServerAccess, type ServerAccess } from '../../src/mcp/access.ts';
import { openTokenRequest, type OAuthClient } from '../../src/mcp/client-credentials.ts';
import { openSession } from '../../src/mcp/session.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { raw, startHttpServer } from '../support/network/http-server.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { guardWithTokens, oauthClient, type OAuthServer, startOAuthServer } from '../support/servers/oauth-server.ts';

const tools = { greet: { call: () => text('hello') } };
const signal = new AbortController().signal;

function openHeaders(url: string, headers: Record<string, string>): ServerAccess {
  const secrets = new Map(Object.entries(headers).map(([name, value]) => [name, new Secret(value)]));
  return createServerAccess({ url, headers: secrets, requestToken: null, clock: systemClock });
}

async function openOAuth(
  url: string,
  issuer: string,
  {
    clock = systemClock,
    seen = [],
    ...client
  }: Partial<OAuthClient> & { clock?: typeof systemClock; seen?: string[] } = {},
): Promise<ServerAccess> {
  const complete = {
    clientId: oauthClient.id,
    issuer,
    tokenOrigin: null,
    scope: null,
    credential: new Secret(oauthClient.secret),
    ...client,
  };
  const onSecret = (secret: Secret) => void seen.push(secret.reveal());
  const requestToken = await openTokenRequest(complete, { serverUrl: url, proxy: undefined, clock, onSecret });
  return createServerAccess({ url, headers: new Map(), requestToken, clock });
}

/** Calls the tool in a session of its own. */
async function greet(url: string, access: ServerAccess, protocol: 'legacy' | 'modern' = 'legacy'): Promise<unknown> {
  await using session = await openSession(
    { url, serverName: 'demo', protocol, access },
    { clock: systemClock, signal },
  );
  const { content } = await session.callTool('greet', {}, { signal });
  return content;
}

const hello = [{ type: 'text', text: 'hello' }];

/** A server that only lets in requests with a token of the authorization server. */
const startGuarded = (oauth: OAuthServer, era: 'legacy' | 'modern' | 'both' = 'both', scopes: string[] = []) =>
  startFixtureMcpServer(tools, { era, guard: guardWithTokens(oauth, scopes) });

describe('headers for a server', () => {
  it.each(['legacy', 'modern'] as const)('go with every request of a session, in the %s era', async (era) => {
    const names: string[] = [];
    await using server = await startFixtureMcpServer(tools, {
      era,
      guard: (request) => {
        names.push(`${request.method} ${request.headers.get('x-key')}`);
        return request.headers.get('x-key') === 'k1' ? null : new Response('no', { status: 401 });
      },
    });
    expect(await greet(server.url, openHeaders(server.url, { 'x-key': 'k1' }), era)).toEqual(hello);
    expect(new Set(names.map((line) => line.split(' ')[1]))).toEqual(new Set(['k1']));
    await expect(greet(server.url, openHeaders(server.url, { 'x-key': 'k2' }), era)).rejects.toThrow(/no$|HTTP 401/);
  });

  it.each([302, 307, 308])('follow no redirect (%i), neither to the origin itself nor to another', async (status) => {
    await using other = await startHttpServer(raw(200, ''));
    for (const location of ['/elsewhere', `${other.origin}/mcp`]) {
      await using http = await startHttpServer(raw(status, '', { location }));
      const url = `${http.origin}/mcp`;
      await expect(greet(url, openHeaders(url, { 'x-key': 'k1' }))).rejects.toThrow('Error POSTing');
      expect(http.requests.map(({ url }) => url)).not.toContain('/elsewhere');
    }
    expect(other.requests).toEqual([]);
  });

  it('go to no other origin', async () => {
    const access = openHeaders('http://127.0.0.1:3000/mcp', { 'x-key': 'k1' });
    expect(await access.grant('http://127.0.0.1:3001/mcp')).toBeNull();
    expect(await access.grant('https://127.0.0.1:3000/mcp')).toBeNull();
    expect((await access.grant('http://127.0.0.1:3000/other'))?.headers).toEqual([['x-key', 'k1']]);
  });
});

describe('tokens of an OAuth client', () => {
  it.each(['legacy', 'modern'] as const)('are requested once for many sessions, in the %s era', async (era) => {
    await using oauth = await startOAuthServer({ lifetimeS: 3600 });
    await using server = await startGuarded(oauth, era, ['mcp:run']);
    const seen: string[] = [];
    const access = await openOAuth(server.url, oauth.issuer, { seen });
    const answers = await Promise.all(Array.from({ length: 5 }, () => greet(server.url, access, era)));
    expect(answers).toEqual(Array.from({ length: 5 }, () => hello));
    expect(oauth.requests.map(({ size }) => size)).toHaveLength(1);
    expect(Object.fromEntries(oauth.requests[0] ?? [])).toEqual({
      grant_type: 'client_credentials',
      scope: 'mcp:run',
      resource: server.url,
    });
    expect(seen).toEqual(oauth.tokens);
  });

  it.each([
    ['EC', generateKeyPairSync('ec', { namedCurve: 'prime256v1' })],
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['Ed25519', generateKeyPairSync('ed25519')],
  ])('are given for an assertion that a private key signs: %s', async (_, { publicKey, privateKey }) => {
    await using oauth = await startOAuthServer({ publicKey });
    await using server = await startGuarded(oauth);
    expect(await greet(server.url, await openOAuth(server.url, oauth.issuer, { credential: privateKey }))).toEqual(
      hello,
    );
    expect(oauth.requests[0]?.get('client_secret')).toBeNull();
  });

  it('are requested again shortly before they expire', async () => {
    const clock = new ManualClock();
    await using oauth = await startOAuthServer({ lifetimeS: 60 });
    await using server = await startGuarded(oauth);
    const access = await openOAuth(server.url, oauth.issuer, { clock });
    await greet(server.url, access);
    await clock.advance(29_000);
    await greet(server.url, access);
    expect(oauth.tokens).toHaveLength(1);
    await clock.advance(2000);
    await greet(server.url, access);
    expect(oauth.tokens).toHaveLength(2);
  });

  it('that were revoked are replaced once, and a refusal of the new one stands', async () => {
    await using oauth = await startOAuthServer();
    const guard = guardWithTokens(oauth);
    let refusals = 0;
    let isLocked = false;
    await using server = await startFixtureMcpServer(tools, {
      guard: async (request) => {
        if (isLocked) oauth.revoke();
        const refusal = await guard(request);
        refusals += refusal?.status === 401 ? 1 : 0;
        return refusal;
      },
    });
    const access = await openOAuth(server.url, oauth.issuer);
    await greet(server.url, access);
    oauth.revoke();
    expect(await greet(server.url, access)).toEqual(hello);
    expect([oauth.tokens.length, refusals]).toEqual([2, 2]);
    isLocked = true;
    await expect(greet(server.url, access)).rejects.toThrow(/HTTP 401|Error POSTing/);
    expect([oauth.tokens.length, refusals]).toEqual([3, 4]);
  });

  it('with too little scope are replaced by one with more', async () => {
    await using oauth = await startOAuthServer();
    const guard = guardWithTokens(oauth);
    let hasToken = false;
    await using server = await startFixtureMcpServer(tools, {
      guard: async (request) => {
        const refusal = await guard(request);
        hasToken ||= refusal === null;
        if (refusal !== null || oauth.requests.at(-1)?.get('scope') === 'mcp:write') return refusal;
        const challenge = 'Bearer error="insufficient_scope", scope="mcp:write"';
        return new Response('', { status: 403, headers: { 'www-authenticate': challenge } });
      },
    });
    expect(await greet(server.url, await openOAuth(server.url, oauth.issuer))).toEqual(hello);
    expect(oauth.requests.map((body) => body.get('scope'))).toEqual([null, 'mcp:write']);
    expect(hasToken).toBe(true);
  });

  it.each([
    [{ clientId: 'other' }, 'gave no token: invalid_client: The client is unknown.'],
    [{ issuer: 'http://127.0.0.1:1' }, 'takes tokens of ISSUER, and not of http://127.0.0.1:1.'],
    [{ credential: new Secret('wrong-secret') }, 'gave no token: invalid_client'],
  ])('are refused to %j in one sentence, without the secret', async (wrong, sentence) => {
    await using oauth = await startOAuthServer();
    await using server = await startGuarded(oauth);
    const error: unknown = await greet(server.url, await openOAuth(server.url, oauth.issuer, wrong)).catch(
      (thrown) => thrown,
    );
    const message = (error as Error).message.replaceAll(oauth.issuer, 'ISSUER');
    expect(message).toContain(sentence);
    expect(message).not.toMatch(/wrong-secret|Zq8/);
    expect(oauth.tokens).toEqual([]);
  });

  it('are out of reach where a browser is needed', async () => {
    await using oauth = await startOAuthServer({ grants: ['authorization_code', 'refresh_token'] });
    await using server = await startGuarded(oauth);
    await expect(greet(server.url, await openOAuth(server.url, oauth.issuer))).rejects.toMatchObject({
      message: `The authorization server ${oauth.issuer} gives no token to a client alone: it offers authorization_code, refresh_token, and not client_credentials.`,
      hint: expect.stringContaining('no browser'),
    });
  });
});
