import { describe, expect, it } from 'vitest';
import { NetworkError, ProtocolError } from '../../src/base/errors.ts';
import { checkTarget } from '../../src/mcp/check-target.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';

const protocols = ['legacy', 'modern', 'auto'] as const;

describe('checkTarget', () => {
  it.each([
    ['legacy', 'legacy', '2025-11-25'],
    ['legacy', 'auto', '2025-11-25'],
    ['modern', 'modern', '2026-07-28'],
    ['modern', 'auto', '2026-07-28'],
  ] as const)('connects to a server of the %s era as "%s"', async (era, protocol, protocolVersion) => {
    const call = () => text('done');
    const tools = { look: { call, annotations: { readOnlyHint: true } }, change: { call } };
    await using server = await startFixtureMcpServer(tools, { era, name: 'math' });
    expect(await checkTarget({ url: server.url, serverName: 'x', protocol }, { timeoutMs: 30_000 })).toEqual({
      protocol: era,
      protocolVersion,
      name: 'math',
      version: '1.2.3',
      readOnlyTools: new Map([
        ['look', true],
        ['change', false],
      ]),
    });
    expect(server.events).toEqual(era === 'legacy' ? ['open', 'list', 'close'] : ['list']);
  });

  it('reports that a server does not list its tools', async () => {
    await using http = await startHttpServer((response, request) => {
      const { method, id } = JSON.parse(request.body || '{}') as { method?: string; id?: number };
      const result =
        method === 'initialize'
          ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'mute', version: '1' } }
          : undefined;
      if (id === undefined) return void response.writeHead(202).end();
      const answer = result === undefined ? { error: { code: -32603, message: 'broken' } } : { result };
      return json(200, { jsonrpc: '2.0', id, ...answer })(response, request);
    });
    const target = { url: `${http.origin}/mcp`, serverName: 'x', protocol: 'legacy' as const };
    expect(await checkTarget(target, { timeoutMs: 30_000 })).toMatchObject({ name: 'mute', readOnlyTools: null });
  });

  it('sends the headers of the target', async () => {
    await using server = await startHttpServer((response) => void response.writeHead(401).end());
    const target = { url: `${server.origin}/mcp`, serverName: 'x', protocol: 'legacy' as const };
    await checkTarget({ ...target, headers: { authorization: 'Bearer t' } }, { timeoutMs: 30_000 }).catch(() => {});
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer t');
  });

  it.each([
    ['modern', 'legacy'],
    ['legacy', 'modern'],
  ] as const)('refuses a server of the %s era where "%s" is wanted', async (era, protocol) => {
    await using server = await startFixtureMcpServer({}, { era });
    const check = checkTarget({ url: server.url, serverName: 'x', protocol }, { timeoutMs: 30_000 });
    await expect(check).rejects.toThrow(ProtocolError);
  });

  it.each(protocols)('says that nothing listens ("%s")', async (protocol) => {
    const origin = `http://127.0.0.1:${await findFreePort()}`;
    const check = checkTarget({ url: `${origin}/secret?k=1`, serverName: 'math', protocol }, { timeoutMs: 30_000 });
    const error = await check.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(NetworkError);
    expect((error as NetworkError).message).toMatch(`The MCP server math at ${origin} could not be reached: `);
    expect((error as NetworkError).message).not.toContain('secret');
  });

  it.each([404, 500])('reports that a server that answers HTTP %i is no MCP server', async (status) => {
    await using server = await startHttpServer((response) => void response.writeHead(status).end('no'));
    const target = { url: `${server.origin}/mcp`, serverName: 'math', protocol: 'legacy' as const };
    await expect(checkTarget(target, { timeoutMs: 30_000 })).rejects.toThrow(
      `The MCP server math at ${server.origin} did not complete the handshake: it answered HTTP ${status}`,
    );
  });

  it.each(protocols)('gives up on a server that does not answer ("%s")', async (protocol) => {
    await using server = await startHttpServer(() => {});
    const target = { url: `${server.origin}/mcp`, serverName: 'math', protocol };
    const error = await checkTarget(target, { timeoutMs: 50 }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(NetworkError);
    expect((error as NetworkError).message).toBe(
      `The MCP server math at ${server.origin} did not complete the handshake within 50 ms.`,
    );
  });

  it("rejects with the caller's reason when it aborts", async () => {
    await using server = await startHttpServer(() => {});
    const target = { url: `${server.origin}/mcp`, serverName: 'math', protocol: 'legacy' as const };
    const caller = new AbortController();
    const check = checkTarget(target, { timeoutMs: 30_000, signal: caller.signal });
    const reason = new Error('enough');
    caller.abort(reason);
    await expect(check).rejects.toBe(reason);
  });
});
