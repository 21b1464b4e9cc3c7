import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import { checkTarget } from '../../src/mcp/check-target.ts';
import type { EraChoice } from '../../src/mcp/protocol.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { startHttpServer } from '../support/network/http-server.ts';
import { openTestServer, type TestServer } from '../support/servers/running-server.ts';
import { answers, startSseServer, writeEvent } from '../support/servers/sse-server.ts';

async function run(
  url: string,
  steps: Step[],
  { protocol = 'sse', timeoutMs = 60_000 }: { protocol?: EraChoice; timeoutMs?: number } = {},
): Promise<CaseOutcome> {
  const target = { url, serverName: 'old', protocol };
  return await runCase(createCase(steps), target, { clock: systemClock, timeoutMs });
}

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

describe('server-everything over HTTP+SSE', () => {
  let server: TestServer;

  beforeAll(async () => {
    const port = await findFreePort();
    server = await openTestServer({
      command: `${process.execPath} ${everything} sse`,
      url: `http://127.0.0.1:${port}/sse`,
      env: { PORT: String(port) },
    });
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  it('is ready once it has answered a handshake over its stream', () => {
    const { transport, name, isolation } = server.report;
    expect([server.protocol, transport, name, isolation]).toEqual([
      'sse',
      'sse',
      'mcp-servers/everything',
      'session per iteration',
    ]);
  });

  it.each(['sse', 'auto'] as const)('passes a sum that is right, spoken to as "%s"', async (protocol) => {
    const steps = [callStep('get-sum', { a: 2, b: 3 }), assertStep({ type: 'toolResultContains', needle: '5' })];
    const outcome = await run(server.url, steps, { protocol });
    expect(outcome).toMatchObject({ status: 'completed', result: 'passed', error: null });
    expect(outcome.protocolVersion).toBe('2025-11-25');
  });

  it('fails a sum that is wrong', async () => {
    const steps = [callStep('get-sum', { a: 2, b: 3 }), assertStep({ type: 'toolResultContains', needle: '6' })];
    expect(await run(server.url, steps)).toMatchObject({ status: 'completed', result: 'failed' });
  });

  it('fails arguments that it refuses', async () => {
    const outcome = await run(server.url, [callStep('get-sum', { a: 'two', b: 3 })]);
    expect(outcome.error).toMatch(/^get-sum answered with an error: "MCP error -32602: /);
  });

  it('ends a call at the time limit of its case', async () => {
    const steps = [callStep('trigger-long-running-operation', { duration: 60, steps: 2 })];
    expect((await run(server.url, steps, { timeoutMs: 300 })).status).toBe('timed_out');
  });
});

describe('a server over HTTP+SSE', () => {
  it('is found by its answers where nothing is said of its transport', async () => {
    await using http = await startSseServer(answers);
    const target = { url: `${http.origin}/sse`, serverName: 'old', protocol: 'auto' as const };
    expect(await checkTarget(target, { timeoutMs: 30_000 })).toMatchObject({
      protocol: 'sse',
      protocolVersion: '2024-11-05',
      readOnlyTools: new Map([['look', false]]),
    });
    expect(http.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /sse',
      'POST /sse',
      'GET /sse',
      'POST /messages?session=1',
      'POST /messages?session=1',
      'POST /messages?session=1',
    ]);
  });

  it('gets the headers of its target with every request', async () => {
    await using http = await startSseServer(answers);
    const target = { url: `${http.origin}/sse`, serverName: 'old', protocol: 'sse' as const };
    await checkTarget({ ...target, headers: { 'x-api-key': 'k' } }, { timeoutMs: 30_000 });
    expect(http.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['k', 'k', 'k', 'k']);
  });

  it('may not announce an endpoint on another origin', async () => {
    await using other = await startHttpServer((response) => void response.writeHead(202).end());
    await using http = await startSseServer(answers, { endpoint: `${other.origin}/messages` });
    const outcome = await run(`${http.origin}/sse`, [callStep('look')]);
    expect([outcome.status, outcome.result, other.requests]).toEqual(['failed', null, []]);
    expect(outcome.error).toBe(
      `The server could not be connected to: Endpoint origin does not match connection origin: ${other.origin}.`,
    );
  });

  it('leaves the iteration without a result where it closes its stream under a call', async () => {
    await using http = await startSseServer((stream, { response }) => {
      response.writeHead(202).end();
      stream.end();
    });
    const outcome = await run(`${http.origin}/sse`, [callStep('look')]);
    expect([outcome.status, outcome.result]).toEqual(['failed', null]);
    expect(outcome.error).toBe(
      'The server gave no answer to look: The server closed the event stream that brings its answers.',
    );
    // No second stream: it would be another session.
    expect(http.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  it('leaves the iteration without a result where it refuses the message', async () => {
    await using http = await startSseServer((_stream, { response }) => void response.writeHead(503).end('<html>'));
    const { error } = await run(`${http.origin}/sse`, [callStep('look')]);
    expect(error).toBe('The server gave no answer to look: it answered HTTP 503.');
  });

  it('fails the case where it sends something else than a message', async () => {
    await using http = await startSseServer((stream, { response }) => {
      response.writeHead(202).end();
      writeEvent(stream, 'message', 'not JSON');
    });
    const outcome = await run(`${http.origin}/sse`, [callStep('look')]);
    expect([outcome.status, outcome.result]).toEqual(['completed', 'failed']);
    expect(outcome.error).toMatch(/^look failed: "The event stream of the server holds text that is not JSON/);
  });

  it('fails the case where it sends more than an iteration may take', async () => {
    await using http = await startSseServer((stream, { response }) => {
      response.writeHead(202).end();
      const log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
      for (let event = 0; event < 10_050; event += 1) writeEvent(stream, 'message', log);
    });
    const outcome = await run(`${http.origin}/sse`, [callStep('look')]);
    expect([outcome.status, outcome.result]).toEqual(['completed', 'failed']);
    expect(outcome.error).toMatch(/^The server sent more than 10000 messages/);
  });

  it('is not ready where its stream never says where to post', async () => {
    await using http = await startHttpServer((response, { method }) => {
      if (method !== 'GET') return void response.writeHead(405).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
    });
    const target = { url: `${http.origin}/sse`, serverName: 'old', protocol: 'auto' as const };
    await expect(checkTarget(target, { timeoutMs: 300 })).rejects.toThrow('did not complete the handshake within');
  });
});
