import { describe, expect, it } from 'vitest';
import { NetworkError, ProtocolError } from '../../src/base/errors.ts';
import { checkTarget } from '../../src/engine/target.ts';
import { startFixtureMcpServer } from '../support/fixture-mcp-server.ts';
import { findFreePort } from '../support/free-port.ts';
import { startHttpServer } from '../support/http-server.ts';

const protocols = ['legacy', 'modern', 'auto'] as const;

describe('checkTarget', () => {
  it.each([
    ['legacy', 'legacy', '2025-11-25'],
    ['legacy', 'auto', '2025-11-25'],
    ['modern', 'modern', '2026-07-28'],
    ['modern', 'auto', '2026-07-28'],
  ] as const)('connects to a server of the %s era as "%s"', async (era, protocol, protocolVersion) => {
    await using server = await startFixtureMcpServer({}, { era, name: 'math' });
    expect(await checkTarget({ url: server.url, serverName: 'x', protocol }, { timeoutMs: 30_000 })).toEqual({
      protocol: era,
      protocolVersion,
      serverName: 'math',
      serverVersion: '1.2.3',
    });
    expect(server.events).toEqual(era === 'legacy' ? ['open', 'close'] : []);
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

  it.each([404, 500])('says that what answers HTTP %i is no MCP server', async (status) => {
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
