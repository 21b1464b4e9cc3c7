import { describe, expect, it } from 'vitest';
import { ServerStartError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import { openAccess } from '../../src/server/open-server.ts';
import type { ServerOptions } from '../../src/server/running-server.ts';
import { startFixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';
import { guardWithTokens, oauthClient, startOAuthServer } from '../support/servers/oauth-server.ts';
import { openTestServer, stdioServerCommand } from '../support/servers/running-server.ts';

async function readError(options: Partial<ServerOptions>): Promise<ServerStartError> {
  const error: unknown = await openTestServer({ command: null, ...options }).catch((reason: unknown) => reason);
  if (error instanceof ServerStartError) return error;
  throw new Error('The server has let the gate in.', { cause: error });
}

describe('a server that lets no request in', () => {
  it.each([
    [['client_credentials'], 'or name a client of its authorization server'],
    [['authorization_code'], 'offers only authorization_code, for which a job has no browser'],
  ])('has its authorization server named, with the grants %j', async (grants, sentence) => {
    await using oauth = await startOAuthServer({ grants });
    await using server = await startFixtureMcpServer({}, { guard: guardWithTokens(oauth, ['mcp:run']) });
    const { message, hint } = await readError({ url: server.url });
    expect(message).toContain('asks for authorization: it answered HTTP 401');
    expect(message).toContain('It asks for Bearer with the scope "mcp:run". It says "invalid_token": ');
    expect(hint).toContain(JSON.stringify(oauth.issuer));
    expect(hint).toContain(sentence);
  });

  it.each([401, 403])('names the headers that it refuses with %i, and no value', async (status) => {
    await using server = await startFixtureMcpServer({}, { guard: () => new Response('k1-value', { status }) });
    const { url } = server;
    const given = { url, headers: new Map([['x-key', new Secret('k1-value')]]), oauth: null, proxy: undefined };
    const { message } = await readError({
      url,
      access: await openAccess(given, { clock: systemClock, onSecret: () => {} }),
    });
    expect(message).toContain('refuses the request with the headers of `server-headers` (x-key)');
    expect(message).not.toContain('k1-value');
  });

  it('is said to refuse a token, after one token alone', async () => {
    await using oauth = await startOAuthServer();
    await using server = await startFixtureMcpServer({}, { guard: () => new Response('no', { status: 401 }) });
    const { url } = server;
    const credential = new Secret(oauthClient.secret);
    const client = { clientId: oauthClient.id, issuer: oauth.issuer, scope: null, tokenOrigin: null, credential };
    const given = { url, headers: new Map(), oauth: client, proxy: undefined };
    const access = await openAccess(given, { clock: systemClock, onSecret: () => {} });
    expect((await readError({ url, access })).message).toContain('refuses the token of `server-oauth`');
    // The second is the answer to the refusal of the first.
    expect(oauth.tokens.length).toBeLessThanOrEqual(2);
  });

  it('is another one if it answers before the command was started', async () => {
    await using server = await startFixtureMcpServer({}, { guard: () => new Response('', { status: 401 }) });
    const { message } = await readError({ command: stdioServerCommand, url: server.url });
    expect(message).toContain('before the server command was started');
  });
});
