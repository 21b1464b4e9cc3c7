import { describe, expect, it } from 'vitest';
import { ServerStartError } from '../../src/base/errors.ts';
import type { ServerOptions } from '../../src/server/running-server.ts';
import { createJumpingClock } from '../support/clocks/bent-clock.ts';
import { type Answer, json, raw, startHttpServer } from '../support/network/http-server.ts';
import { openTestServer } from '../support/servers/running-server.ts';

/** Waits between attempts take a moment, in which the time has passed nevertheless. */
const retries = { fromMs: 50, toMs: 150, instead: 1 };

/** Gives what a user reads, with the address of the server as `ORIGIN`, and how many requests were made. */
async function readRefusal(
  answer: Answer,
  {
    path = '/mcp',
    protocol = 'auto',
    readyTimeoutMs = 30_000,
  }: { path?: string; protocol?: 'auto' | '2026-07-28'; readyTimeoutMs?: number } = {},
): Promise<{ text: string; requests: number }> {
  await using http = await startHttpServer(answer);
  const options: Partial<ServerOptions> = {
    command: null,
    url: `${http.origin}${path}`,
    readyTimeoutMs,
    protocol: { value: protocol, source: 'protocol' },
  };
  const error: unknown = await openTestServer(options, { clock: createJumpingClock(retries) }).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServerStartError);
  const { message, hint = '' } = error as ServerStartError;
  const text = `${message}\n${hint}`.replaceAll(http.origin, 'ORIGIN').replaceAll(`127.0.0.1:${http.port}`, 'HOST');
  return { text, requests: http.requests.length };
}

/** Answers `initialize` with this revision, whatever is offered. */
const initializes =
  (protocolVersion: string): Answer =>
  (response, request) => {
    const { id, method } = request.method === 'POST' ? JSON.parse(request.body) : {};
    const body =
      method === 'initialize'
        ? { result: { protocolVersion, capabilities: {}, serverInfo: { name: 'demo', version: '1' } } }
        : { error: { code: -32_601, message: 'Method not found' } };
    return json(200, { jsonrpc: '2.0', id, ...body })(response, request);
  };

describe('a server that refuses the handshake', () => {
  it('with 401 asks for authorization, which ends the wait at once', async () => {
    const body = { error: { message: 'Token is missing' } };
    const { text, requests } = await readRefusal(json(401, body), { path: '/mcp?key=secret' });
    expect(text).toMatchInlineSnapshot(`
      "The server at ORIGIN/mcp asks for authorization: it answered HTTP 401: Token is missing.
      Give the header that it needs in \`server-headers\`, such as \`Authorization: Bearer …\` from a secret."
    `);
    expect(requests).toBe(2);
  });

  it('with 401 says which scheme it asks for, and why', async () => {
    const basic = json(401, 'no', { 'www-authenticate': 'Basic realm="x"' });
    expect((await readRefusal(basic)).text).toMatchInlineSnapshot(`
      "The server at ORIGIN/mcp asks for authorization: it answered HTTP 401. It asks for Basic.
      Give \`Authorization: Basic …\` from a secret in \`server-headers\`."
    `);
    const why = 'error="invalid_token", error_description="It has expired", scope="mcp:run"';
    const bearer = json(401, 'no', { 'www-authenticate': `Bearer ${why}` });
    expect((await readRefusal(bearer)).text).toMatchInlineSnapshot(`
      "The server at ORIGIN/mcp asks for authorization: it answered HTTP 401. It asks for Bearer with the scope "mcp:run". It says "invalid_token": "It has expired".
      Give \`Authorization: Bearer …\` from a secret in \`server-headers\`."
    `);
  });

  it('with 403 may not know the host', async () => {
    const body = { jsonrpc: '2.0', error: { code: -32_000, message: 'Invalid Host header' }, id: null };
    const { text, requests } = await readRefusal(json(403, body));
    expect(text).toMatchInlineSnapshot(`
      "The server at ORIGIN/mcp refuses the gate: it answered HTTP 403: Invalid Host header.
      Have it accept the Host header HOST. If it needs a header, give that in \`server-headers\`."
    `);
    expect(requests).toBe(2);
  });

  it('with 404 has nothing at the path', async () => {
    expect((await readRefusal(raw(404, 'no'), { path: '/' })).text).toMatchInlineSnapshot(`
      "A server answers at ORIGIN, but has nothing at the path / (HTTP 404).
      Give the path of its MCP endpoint in server-url, which often is /mcp."
    `);
  });

  it('with 405 takes no requests of MCP at the path, which ends the wait before the ready timeout', async () => {
    expect((await readRefusal(raw(405, 'no'), { path: '/' })).text).toMatchInlineSnapshot(`
      "A server answers at ORIGIN, but does not allow the requests of MCP at the path / (HTTP 405).
      Give the path of its MCP endpoint in server-url, which often is /mcp."
    `);
  });

  it.each([307, 308, 301])('with a redirect (%i) names its target at once, without the query', async (status) => {
    const answer = raw(status, '', { location: '/mcp?key=secret' });
    const { text, requests } = await readRefusal(answer, { path: '/mcp/?key=secret' });
    expect(text).toBe(
      `The server at ORIGIN/mcp/ redirects to ORIGIN/mcp?… (HTTP ${status}), and the gate follows no redirects.\nGive that URL in \`server-url\`.`,
    );
    expect(requests).toBe(2);
  });

  it('reports a redirect to something that is no http URL', async () => {
    const answer = raw(302, '', { location: 'javascript:alert(1)' });
    expect((await readRefusal(answer)).text).toMatchInlineSnapshot(`
      "The server at ORIGIN/mcp redirects to something that is no http URL (HTTP 302).
      Give the URL of its MCP endpoint in \`server-url\`."
    `);
  });
});

describe('a server whose answer is malformed', () => {
  it('is described in one sentence when the wait is over', async () => {
    const answer: Answer = (response, request) => {
      const { id } = request.method === 'POST' ? JSON.parse(request.body) : {};
      const result = { protocolVersion: 1, capabilities: {}, serverInfo: { name: 'demo', version: '1' } };
      return json(200, { jsonrpc: '2.0', id, result })(response, request);
    };
    expect((await readRefusal(answer, { readyTimeoutMs: 1000 })).text).toMatchInlineSnapshot(`
      "No MCP server answered at ORIGIN/mcp within 1 s; last: its answer is not valid MCP: /protocolVersion: expected string, received number.
      Check host, port and path (often /mcp), and that the server listens on that address; if it only needs longer, raise the ready timeout."
    `);
  });
});

describe('a server of another revision', () => {
  it('is refused at once with what it offers', async () => {
    expect((await readRefusal(initializes('2099-01-01'))).text).toMatchInlineSnapshot(`
      "The server under test offers MCP 2099-01-01, which the gate does not speak.
      The gate speaks 2024-10-07, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28. Use a version of the server that speaks one of them."
    `);
  });

  it('is refused when it is older than the pinned one', async () => {
    const { text } = await readRefusal(initializes('2025-06-18'), { protocol: '2026-07-28' });
    expect(text).toMatchInlineSnapshot(`
      "The server under test does not speak MCP 2026-07-28, which \`protocol\` asks for. It offers 2025-06-18.
      Set \`protocol\` to a revision that the server offers, or to \`auto\`."
    `);
  });

  it('is refused over stdio', async () => {
    const result = { protocolVersion: '2099-01-01', capabilities: {}, serverInfo: { name: 'demo', version: '1' } };
    const answer = JSON.stringify({ jsonrpc: '2.0', id: 0, result });
    const command = `${process.execPath} -e 'process.stdin.on("data", () => console.log(process.argv[1]))' '${answer}'`;
    const error: unknown = await openTestServer({ command }).catch((reason: unknown) => reason);
    expect((error as Error).message).toBe(
      'The server under test offers MCP 2099-01-01, which the gate does not speak.',
    );
  });
});
