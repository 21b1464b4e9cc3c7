import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { maxMessageBytes } from '../../src/capture/journal.ts';
import { openHttpProxy } from '../../src/capture/http-proxy.ts';
import { readSuite } from '../../src/suite/read.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { addingServerPath, createWorkspace } from '../support/workspace.ts';

/** Serves the same answer to each request, and remembers the requests. */
async function serve(answer: { status: number; headers: Record<string, string>; chunks: readonly string[] }) {
  const requests: Array<{ method?: string; path?: string; headers: NodeJS.Dict<string | string[]> }> = [];
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
    response.writeHead(answer.status, answer.headers);
    for (const chunk of answer.chunks) response.write(chunk);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    requests,
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('openHttpProxy', () => {
  it.each([
    {
      status: 200,
      headers: { 'content-type': 'text/event-stream', 'mcp-session-id': 's' },
      chunks: ['id: 1\nda', 'ta: {"a":1}\n\n', ': tick\n\ndata: {"b":2}\r\n\r\n'],
      messages: ['{"a":1}', '{"b":2}'],
    },
    { status: 404, headers: { 'content-type': 'application/json' }, chunks: ['{"c":', '3}'], messages: ['{"c":3}'] },
    { status: 405, headers: { allow: 'POST', 'content-type': 'text/plain' }, chunks: ['no'], messages: [] },
  ])('passes status $status, headers and body on, and reads the messages', async ({ messages, ...answer }) => {
    await using server = await serve(answer);
    const seen: unknown[] = [];
    await using proxy = await openHttpProxy({
      port: 0,
      target: (path) => new URL(path, server.origin),
      onMessage: (...message) => seen.push(message),
    });
    const sent = {
      'content-type': 'application/json',
      'last-event-id': '7',
      'mcp-protocol-version': '2026-07-28',
      authorization: 'Bearer x',
    };
    const response = await fetch(`http://127.0.0.1:${proxy.port}/mcp?x=1`, {
      method: 'POST',
      headers: sent,
      body: '{"q":0}',
    });
    expect(response.status).toBe(answer.status);
    for (const [name, value] of Object.entries(answer.headers)) expect(response.headers.get(name)).toBe(value);
    expect(await response.text()).toBe(answer.chunks.join(''));
    expect(server.requests).toMatchObject([{ method: 'POST', path: '/mcp?x=1', headers: sent }]);
    const origin = answer.status === 200 ? { session: 1 } : { exchange: 1 };
    expect(seen).toEqual([['client', '{"q":0}', origin], ...messages.map((text) => ['server', text, origin])]);
  });

  it.each(['application/json', 'text/event-stream'])(
    'passes a long body of %s on, and reads its beginning',
    async (type) => {
      const long = `data: {"a":"${'x'.repeat(9 * 1024 * 1024)}"}`;
      const body = type === 'application/json' ? long.replace('data: ', '') : `${long}\n\n`;
      await using server = await serve({ status: 200, headers: { 'content-type': type }, chunks: [body] });
      const seen: number[] = [];
      await using proxy = await openHttpProxy({
        port: 0,
        target: (path) => new URL(path, server.origin),
        onMessage: (_, text) => seen.push(text.length),
      });
      const response = await fetch(`http://127.0.0.1:${proxy.port}/mcp`);
      expect((await response.text()).length).toBe(body.length);
      expect(seen).toHaveLength(1);
      expect(seen[0]).toBeGreaterThan(maxMessageBytes);
      expect(seen[0]).toBeLessThan(2 * maxMessageBytes);
    },
  );

  it('refuses a name that is not of this machine, and answers 502 without a server', async () => {
    await using proxy = await openHttpProxy({
      port: 0,
      target: () => new URL('http://127.0.0.1:1/'),
      onMessage: () => {},
    });
    expect((await fetch(`http://127.0.0.1:${proxy.port}/`)).status).toBe(502);
    const { promise, resolve } = Promise.withResolvers<string>();
    const { connect } = await import('node:net');
    const socket = connect(proxy.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n'));
    socket.once('data', (data) => resolve(String(data)));
    expect(await promise).toMatch(/^HTTP\/1\.1 403 /);
    socket.destroy();
  });
});

describe('capture over HTTP', () => {
  it('serves a command, and writes the evals of its sessions after a signal', async () => {
    await using workspace = await createWorkspace();
    const args = ['capture', '--out', 'evals/session.evals.yaml', '--port', '0', '--', 'node', addingServerPath];
    const child = spawn(process.execPath, [commandPath, ...args], {
      cwd: workspace.path,
      env: { ...listChildVariables(), SESSION_TOKEN: 'only-in-the-environment' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    await expect.poll(() => stderr).toMatch(/Capturing at (\S+)/);
    const [, url = ''] = /Capturing at (\S+)/.exec(stderr) ?? [];
    for (const b of [3, 4]) {
      const client = new Client({ name: 'person', version: '1.0.0' });
      const requestInit = { headers: { 'x-tenant': 'only-in-a-header' } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      const { tools } = await client.listTools();
      await client.callTool({ name: tools[0]?.name ?? '', arguments: { a: 2, b } });
      await client.close();
    }
    child.kill('SIGINT');
    await once(child, 'exit');
    expect(readdirSync(join(workspace.path, 'evals'))).toEqual(['session.evals.yaml']);
    const text = await workspace.read('evals/session.evals.yaml');
    expect(readSuite(text, { file: 'session' }).findings).toEqual([]);
    // Each session is a task.
    expect(text.match(/- id: /g)?.length).toBeGreaterThanOrEqual(2);
    for (const hidden of ['only-in-the-environment', 'only-in-a-header']) expect(text).not.toContain(hidden);
  });

  it('names what is wrong with its flags', async () => {
    await using workspace = await createWorkspace();
    const run = async (...args: string[]) =>
      await runProgramInTest(['capture', '--out', 'a.yaml', ...args], { cwd: workspace.path });
    expect(await run('--port', 'x', '--', 'cat')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('"x" is no port'),
    });
    expect(await run('--port', '3000')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('needs a server'),
    });
    expect(await run('--url', 'nonsense')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is no URL of HTTP'),
    });
    expect(await run('--url', 'http://127.0.0.1:1/', '--', 'cat')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('remove one'),
    });
  });
});
