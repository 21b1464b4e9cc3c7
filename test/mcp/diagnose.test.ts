import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { summarizeDiagnosis } from '../../src/mcp/diagnosis.ts';
import { diagnoseServer } from '../../src/mcp/diagnose.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { raw, startHttpServer } from '../support/network/http-server.ts';
import { refuse, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { guardWithTokens, startOAuthServer } from '../support/servers/oauth-server.ts';
import { openTestServer } from '../support/servers/running-server.ts';

const tools = { echo: { call: () => text('hi') }, other: { call: () => text('ho') } };

function diagnose(url: string, { timeoutMs = 10_000, signal = new AbortController().signal } = {}) {
  const target = { url, serverName: 'demo', protocol: 'auto' as const };
  return diagnoseServer(target, { clock: systemClock, signal, timeoutMs });
}

describe('the doctor', () => {
  it.each(['legacy', 'modern'] as const)('finds a server of the %s era ready', async (era) => {
    await using server = await startFixtureMcpServer(tools, { era });
    const found = await diagnose(server.url);
    expect(found).toMatchObject({
      status: 'ready',
      connection: { status: 'connected' },
      initInfo: { serverInfo: { name: 'fixture', version: '1.2.3' } },
      capabilities: { tools: {} },
      tools: [{ name: 'echo' }, { name: 'other' }],
      checks: {
        probe: { status: 'ok' },
        tools: { status: 'ok', detail: '2 tools.' },
        prompts: { status: 'skipped', detail: 'The server declares no prompts.' },
      },
      error: null,
    });
  });

  it('finds a list that the server declares and does not give', async () => {
    await using server = await startFixtureMcpServer(tools, { list: () => refuse(-32603, 'The index is broken') });
    const found = await diagnose(server.url);
    expect(found).toMatchObject({
      status: 'partial',
      connection: { status: 'connected' },
      checks: { initialization: { status: 'ok' }, tools: { status: 'error' } },
      error: { code: 'INCOMPLETE' },
    });
    expect(found.checks.tools.detail).toContain('tools/list failed: ');
    expect(found.checks.tools.detail).toContain('The index is broken');
  });

  it('finds that nothing listens, without the query of the URL', async () => {
    const found = await diagnose(`http://127.0.0.1:${await findFreePort()}/mcp?k=canary`);
    expect(found).toMatchObject({
      status: 'error',
      probe: null,
      connection: { status: 'skipped' },
      checks: { probe: { status: 'error' }, initialization: { status: 'skipped' } },
      error: { code: 'SERVER_UNREACHABLE' },
    });
    expect(found.checks.probe.detail).toContain('ECONNREFUSED');
    expect(JSON.stringify(found)).not.toContain('canary');
  });

  it('finds a web server that is none of MCP', async () => {
    await using server = await startHttpServer(raw(200, '<html>Hello</html>', { 'content-type': 'text/html' }));
    const found = await diagnose(`${server.origin}/mcp`);
    expect(found).toMatchObject({
      status: 'error',
      probe: { status: 200, contentType: 'text/html' },
      connection: { status: 'error' },
      checks: { probe: { status: 'ok' }, connection: { status: 'ok' }, initialization: { status: 'error' } },
    });
    expect(JSON.stringify(found)).not.toContain('Hello');
  });

  it('finds a server that wants a token', async () => {
    await using oauth = await startOAuthServer();
    await using server = await startFixtureMcpServer(tools, { guard: guardWithTokens(oauth, ['read']) });
    const found = await diagnose(server.url);
    expect(found).toMatchObject({
      status: 'oauth_required',
      probe: { status: 401 },
      connection: { status: 'error' },
      checks: { probe: { status: 'ok' }, connection: { status: 'error' }, initialization: { status: 'skipped' } },
      error: { code: 'OAUTH_REQUIRED' },
    });
    expect(found.checks.connection.detail).toContain('HTTP 401. It asks for Bearer.');
  });

  it('finds a password that is no grant', async () => {
    const basic = { 'www-authenticate': 'Basic realm="x"' };
    await using server = await startHttpServer(raw(401, '', basic));
    expect(await diagnose(`${server.origin}/mcp`)).toMatchObject({ status: 'error' });
  });

  it('finds a server that never answers, within its time', async () => {
    await using server = await startHttpServer(() => {});
    const { status, checks } = await diagnose(`${server.origin}/mcp`, { timeoutMs: 100 });
    expect(status).toBe('error');
    expect(checks.probe.detail).toContain('it did not answer within 100 ms');
  });

  it('stops when its caller does', async () => {
    await using server = await startHttpServer(() => {});
    const stopped = new AbortController();
    const found = diagnose(`${server.origin}/mcp`, { signal: stopped.signal });
    stopped.abort(new Error('enough'));
    await expect(found).rejects.toThrow('enough');
  });

  it('sums up the steps that it took', async () => {
    await using server = await startFixtureMcpServer(tools, { list: () => refuse(-32603, 'Broken') });
    const line = summarizeDiagnosis(await diagnose(server.url));
    expect(line).toMatch(/^probe ok \(.+\); connection ok \(.+\); initialization ok \(fixture 1\.2\.3 speaks MCP .+\)/);
    expect(line).toMatch(/; tools error \(tools\/list failed: .*Broken\)$/);
  });
});

describe('the doctor, of a server that redirects', () => {
  it.each(['its own', 'another'])(
    'every request to %s origin, names where it leads and does not follow',
    async (origin) => {
      await using other = await startHttpServer(raw(200, ''));
      const location = (origin === 'another' ? other.origin : '') + '/other?k=canary';
      await using server = await startHttpServer(raw(307, '', { location }));
      const found = await diagnose(`${server.origin}/mcp`);
      const leads = `${origin === 'another' ? other.origin : server.origin}/other`;
      expect(found).toMatchObject({
        status: 'error',
        probe: { status: 307 },
        checks: {
          probe: { status: 'error', detail: expect.stringContaining(`It redirects to ${leads}; use that URL.`) },
          connection: { status: 'skipped' },
        },
      });
      expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /mcp']);
      expect(other.requests).toEqual([]);
    },
  );

  it.each([
    ['its own', 302],
    ['its own', 307],
    ['another', 307],
  ])('messages to %s origin (%i), finds no session, as a run finds none', async (origin, status) => {
    await using other = await startFixtureMcpServer(tools);
    const isMoved = ({ method, url }: Request) => method === 'POST' && new URL(url).pathname === '/mcp';
    const location = `${origin === 'another' ? other.url : '/other'}?k=canary`;
    await using server = await startFixtureMcpServer(tools, {
      guard: (request) => (isMoved(request) ? new Response(null, { status, headers: { location } }) : null),
    });
    const { status: found, checks } = await diagnose(server.url);
    expect(found).toBe('error');
    const { href } = new URL(location.replace('?k=canary', ''), server.url);
    expect(checks).toMatchObject({
      probe: { status: 'ok' },
      initialization: {
        status: 'error',
        detail: `It did not complete the handshake of MCP: it answered HTTP ${status}. It redirects to ${href}; use that URL.`,
      },
    });
    expect([...server.events, ...other.events]).toEqual([]);
    await expect(openTestServer({ command: null, url: server.url })).rejects.toThrow(
      `The server at ${server.url} redirects to ${href}?… (HTTP ${status}), and the gate follows no redirects.`,
    );
  });
});
