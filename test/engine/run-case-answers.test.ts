import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Step } from '../../src/cases/step.ts';
import { callStep, createCase } from '../support/factories/case-factory.ts';
import { startHttpServer, type Answer } from '../support/network/http-server.ts';

const sum = { name: 'sum', inputSchema: { type: 'object' } };

/** Serves the handshake and the list of the 2025-11-25 revision properly, and tool calls as given. */
function serveLegacy(answerCall: (response: ServerResponse, id: number) => void): Answer {
  return (response, { method, body }) => {
    if (method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body) as { id?: number; method: string };
    if (message.id === undefined) {
      response.writeHead(202).end();
    } else if (message.method === 'initialize') {
      const serverInfo = { name: 'raw', version: '0' };
      const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    } else if (message.method === 'tools/list') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools: [sum] } }));
    } else {
      answerCall(response, message.id);
    }
  };
}

async function run(
  answerCall: (response: ServerResponse, id: number) => void,
  steps: readonly Step[] = [callStep('sum')],
): Promise<Partial<CaseOutcome>> {
  await using server = await startHttpServer(serveLegacy(answerCall));
  const target = { url: `${server.origin}/mcp`, serverName: 'raw', protocol: 'legacy' as const };
  const options = { clock: systemClock, timeoutMs: 30_000 };
  const { status, result, error } = await runCase(createCase([...steps]), target, options);
  return { status, result, error };
}

function answerStatus(status: number): (response: ServerResponse) => void {
  return (response) => response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>sorry</h1>');
}

describe('runCase on the answer to a tool call', () => {
  it.each([
    [404, 'it answered HTTP 404 (no such session or path)'],
    [401, 'it answered HTTP 401'],
    [502, 'it answered HTTP 502'],
  ])('establishes nothing from HTTP %i', async (status, message) => {
    expect(await run(answerStatus(status))).toEqual({
      status: 'failed',
      result: null,
      error: `The server gave no answer to sum: ${message}.`,
    });
  });

  it('repeats what a JSON-RPC error in such an answer says', async () => {
    const body = { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'The server has left' } };
    expect(await run((response) => response.writeHead(404).end(JSON.stringify(body)))).toMatchObject({
      error: 'The server gave no answer to sum: it answered HTTP 404: The server has left.',
    });
  });

  it('establishes nothing from an event stream that ends without an answer', async () => {
    const outcome = await run((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': nothing to say\n\n');
    });
    expect(outcome).toEqual({
      status: 'failed',
      result: null,
      error: 'The server gave no answer to sum: The server closed its response to tools/call without an answer.',
    });
  });

  it('establishes nothing from an event stream that breaks off', async () => {
    const outcome = await run((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': wait\n\n', () => response.destroy());
    });
    expect(outcome).toMatchObject({ status: 'failed', result: null });
  });

  it.each(['application/json', 'text/event-stream'])('fails the case on %s that is not JSON', async (type) => {
    const outcome = await run((response) => {
      const text = '{"jsonrpc":}';
      response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? text : `data: ${text}\n\n`);
    });
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
    expect(outcome.error).toMatch(
      /^sum failed: "The response (to tools\/call )?holds text that is not JSON: Unexpected token .*"\.$/,
    );
  });

  it.each([
    [
      'a result that is null',
      (id: number) => ({ jsonrpc: '2.0', id, result: null }),
      'JSON that is no JSON-RPC 2.0 message.',
    ],
    [
      'an error without a message',
      (id: number) => ({ jsonrpc: '2.0', id, error: { code: 1 } }),
      'JSON that is no JSON-RPC 2.0 message.',
    ],
    [
      'an answer to another request',
      () => ({ jsonrpc: '2.0', id: 4711, result: { content: [] } }),
      'an answer with the id 4711, which no request has.',
    ],
  ])('fails the case on %s', async (_, answer, finding) => {
    const outcome = await run((response, id) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(answer(id))}\n\n`);
    });
    expect(outcome).toEqual({
      status: 'completed',
      result: 'failed',
      error: `sum failed: "The response to tools/call holds ${finding}".`,
    });
  });

  it('establishes nothing from a body of JSON that breaks off', async () => {
    const outcome = await run((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"jsonrpc":', () => response.destroy());
    });
    expect(outcome).toMatchObject({ status: 'failed', result: null });
  });

  it('takes the id of an answer written as a string, call after call', async () => {
    const answer = (response: ServerResponse, id: number) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: String(id), result: { content: [] } })}\n\n`);
    };
    const outcome = await run(answer, [callStep('sum'), { ...callStep('sum'), id: 'again' }]);
    expect(outcome).toEqual({ status: 'completed', result: 'passed', error: null });
  });

  it('fails the case on an answer that is no tool result', async () => {
    const outcome = await run((response, id) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: 'five' } }));
    });
    expect(outcome).toEqual({
      status: 'completed',
      result: 'failed',
      error: 'sum answered with a result that is not valid MCP: /content: expected array, received string.',
    });
  });

  it.each([
    [{ content: [{ type: 'text', text: 5 }] }, '/content/0/text: expected string, received number'],
    [
      { content: [{ type: 'video', data: 'x' }] },
      '/content/0/type: expected text, image, audio, resource_link or resource',
    ],
    [{ content: [{ type: 'image', data: 'AA==' }] }, '/content/0/mimeType: expected string, received undefined'],
    [{ content: [], isError: 'yes' }, '/isError: expected boolean, received string'],
    [
      { content: [{ text: 1 }, { type: 'text' }] },
      '/content/0/type: expected text, image, audio, resource_link or resource; /content/1/text: expected string, received undefined',
    ],
  ])('points at what is wrong in the result %j', async (result, expected) => {
    const { error } = await run((response, id) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    expect(error).toBe(`sum answered with a result that is not valid MCP: ${expected}.`);
  });

  it('fails the case on an answer that is no message, and says so in one sentence', async () => {
    const { result, error } = await run((response, id) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: 'five' }));
    });
    expect(result).toBe('failed');
    expect(error).toMatchInlineSnapshot(`"sum failed: "The response holds JSON that is no JSON-RPC 2.0 message."."`);
  });

  it('points at what is wrong in the result of a server of 2026-07-28', async () => {
    await using server = await startHttpServer((response, { body }) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string };
      const discovered = {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        ttlMs: 0,
        cacheScope: 'private',
      };
      const tools = { tools: [{ name: 'sum', inputSchema: { type: 'object' } }], ttlMs: 0, cacheScope: 'private' };
      const answers: Record<string, object> = { 'server/discover': discovered, 'tools/list': tools };
      const result = answers[method] ?? { content: [{ type: 'text', text: 5 }] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }));
    });
    const target = { url: server.origin, serverName: 'raw', protocol: 'modern' as const };
    const { error } = await runCase(createCase([callStep('sum')]), target, { clock: systemClock, timeoutMs: 30_000 });
    expect(error).toBe(
      'sum answered with a result that is not valid MCP: /content/0/text: expected string, received number.',
    );
  });

  it('fails the case on a request for input, which a client without capabilities cannot give', async () => {
    await using server = await startHttpServer((response, { body }) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string };
      const params = { mode: 'form', message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
      const discovered = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
      const cacheable = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
      const results: Record<string, object> = {
        'server/discover': { ...discovered, ...cacheable },
        'tools/list': { ...cacheable, tools: [{ ...sum, name: 'ask' }] },
        'tools/call': {
          resultType: 'input_required',
          inputRequests: { name: { method: 'elicitation/create', params } },
        },
      };
      const result = results[method];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    const target = { url: server.origin, serverName: 'raw', protocol: 'modern' as const };
    const options = { clock: systemClock, timeoutMs: 30_000 };
    const outcome = await runCase(createCase([callStep('ask')]), target, options);
    expect(outcome).toMatchObject({ status: 'failed', result: null });
    expect(outcome.error).toMatch(
      /^ask failed: "The server asks for elicitation\/create, which this client does not offer\."/,
    );
    expect(outcome.error).toContain('ask needs elicitation, which the case does not offer.');
  });

  it('passes an answer that comes as one event among others', async () => {
    const outcome = await run((response, id) => {
      const result = { jsonrpc: '2.0', id, result: { content: [] } };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`: comment\n\ndata: ${JSON.stringify(result)}\n\n`);
    });
    expect(outcome).toEqual({ status: 'completed', result: 'passed', error: null });
  });
});
