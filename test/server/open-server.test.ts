import { describe, expect, it, vi } from 'vitest';

import { silentLogger } from '../../src/base/logger.ts';
import { crashingServerPath, everythingServerPath, memoryServerPath } from '../support/servers/bundled-servers.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { isRunning, listMarkedPids } from '../support/process/processes.ts';
import { connectClient, openTestServer, stdioServerCommand } from '../support/servers/running-server.ts';

describe('openServer', () => {
  it("serves a command on stdio behind a secret URL and reports the server's name and protocol", async () => {
    await using server = await openTestServer({ sessionMarker: 'marker-open' });
    expect(server.report).toEqual({
      transport: 'stdio',
      name: 'stdio-server',
      version: '1.2.3',
      protocolVersion: '2025-11-25',
      protocolVersions: [],
      isolation: 'process per iteration',
      sandbox: null,
    });
    expect(server.protocol).toBe('legacy');
    expect(server.sessionMarker).toBe('marker-open');
    const [secret] = server.secrets;
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/mcp$/);
    expect(server.url.split('/')[3]).toBe(secret?.reveal());
    await using client = await connectClient(server.url);
    expect(client.client.getServerVersion()).toEqual({ name: 'stdio-server', version: '1.2.3' });
  });

  it('recognises a server of the stateless protocol', async () => {
    await using server = await openTestServer({ env: { ERA: 'modern' } });
    expect(server.protocol).toBe('modern');
    expect(server.report).toEqual({
      transport: 'stdio',
      name: 'stdio-server',
      version: '1.2.3',
      protocolVersion: '2026-07-28',
      protocolVersions: [],
      isolation: 'stateless',
      sandbox: null,
    });
  });

  it('starts a server that takes only numbers as ids', async () => {
    const script = `
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        if (method !== "initialize" || typeof id !== "number") return;
        const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "numbers", version: "1" } };
        console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });`;
    await using server = await openTestServer({ command: `${process.execPath} -e '${script}'` });
    expect(server.report.name).toBe('numbers');
  });

  it.each([
    ['server-everything', everythingServerPath, 'mcp-servers/everything'],
    ['server-memory', memoryServerPath, 'memory-server'],
    ['context7-mcp', 'node_modules/.bin/context7-mcp', 'Context7'],
  ])('starts %s', async (_, file, name) => {
    await using server = await openTestServer({ command: `${process.execPath} ${file}` });
    expect([server.protocol, server.report.name]).toEqual(['legacy', name]);
    await using client = await connectClient(server.url);
    expect((await client.client.listTools()).tools.length).toBeGreaterThan(0);
  });

  it('starts a command that serves HTTP and waits until it answers MCP', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/mcp`;
    const command = `${process.execPath} node_modules/.bin/mcp-server-everything streamableHttp`;
    const server = await openTestServer({ command, url, env: { PORT: String(port) } });
    expect([server.url, server.secrets, server.protocol]).toEqual([url, [], 'legacy']);
    expect(server.report).toMatchObject({ transport: 'http', isolation: 'session per iteration' });
    const pids = listMarkedPids(server.sessionMarker ?? '');
    expect(pids.length).toBeGreaterThan(0);
    await server[Symbol.asyncDispose]();
    expect(pids.map(isRunning)).not.toContain(true);
  });

  it('finds a server that the gate did not start, and leaves it running', async () => {
    await using theirs = await openTestServer();
    const server = await openTestServer({ command: null, url: theirs.url });
    expect([server.sessionMarker, server.report.transport, server.report.name]).toEqual([null, 'http', 'stdio-server']);
    await server[Symbol.asyncDispose]();
    await using client = await connectClient(theirs.url);
    expect(await client.call('echo', { value: 1 })).toBe(1);
  });

  it('finds a server of the stateless protocol over HTTP', async () => {
    await using theirs = await openTestServer({ env: { ERA: 'modern' } });
    await using server = await openTestServer({ command: null, url: theirs.url });
    expect([server.protocol, server.report.isolation]).toEqual(['modern', 'stateless']);
  });

  it('reports the end of a process over HTTP to the iteration of its last call while the next one starts another process', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/mcp`;
    const command = `${process.execPath} ${crashingServerPath}`;
    await using server = await openTestServer({ command, url, env: { PORT: String(port), ERA: 'modern' } });
    const { signal } = new AbortController();
    const enter = async () => await server.witness!.visit({ isAlone: false, signal });
    using crashing = await enter();
    const [pid = 0] = listMarkedPids(server.sessionMarker ?? '');
    // The gate reads the output of the process for longer than the process lives.
    const params = { name: 'end', arguments: { with: '3', when: 'before', leaves: 2000 } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    await expect(fetch(url, { method: 'POST', body })).rejects.toThrow('fetch failed');
    const found = crashing.findEnd(undefined, { mayBeEnding: true });
    await vi.waitUntil(() => !isRunning(pid));
    using _next = await enter();
    expect(await found).toMatchObject({ end: { exitCode: 3 } });
  });

  it('splits the command as a shell would, without one', async () => {
    await using server = await openTestServer({ command: `${stdioServerCommand} "two words" '$HOME' a\\ b '&&' *` });
    await using client = await connectClient(server.url);
    expect(await client.call('argv')).toEqual(['two words', '$HOME', 'a b', '&&', '*']);
  });

  it('runs the command in the directory it is given', async () => {
    const command = `${process.execPath} stdio-server.ts`;
    await using server = await openTestServer({ command, cwd: 'test/support/servers' });
    expect(server.protocol).toBe('legacy');
  });

  it('skips other lines on stdout, and warns once about the first one', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warning: (message: string) => void warnings.push(message) };
    const command = `bash -c 'echo "Listening  on stdio"; echo "{\\"level\\":30}"; exec ${stdioServerCommand}'`;
    await using server = await openTestServer(
      { command, sessions: { count: null, warmProcesses: 1, isExclusive: false } },
      { logger },
    );
    await using client = await connectClient(server.url);
    expect(await client.call('count')).toBe(1);
    expect(warnings).toEqual([
      'The server under test writes to stdout, where only MCP messages belong; such lines are skipped. First: "Listening  on stdio". Its logs belong on stderr.',
    ]);
    expect(server.stderrTail()).toContain('{"level":30}');
  });

  it('leaves no process behind', async () => {
    const server = await openTestServer({ sessions: { count: null, warmProcesses: 2, isExclusive: false } });
    await using client = await connectClient(server.url);
    const pid = (await client.call('pid')) as number;
    expect(listMarkedPids(server.sessionMarker ?? '')).toContain(pid);
    await server[Symbol.asyncDispose]();
    expect(listMarkedPids(server.sessionMarker ?? '')).toEqual([]);
  });

  it('keeps the last lines of stderr', async () => {
    await using server = await openTestServer();
    expect(server.stderrTail(1)).toEqual([expect.stringMatching(/^stdio-server \d+ is up$/)]);
  });
});
