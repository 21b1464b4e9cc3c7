import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { startEverythingServer } from '../support/servers/everything-server.ts';
import { readLines, readMessage } from './conversation.ts';
import type { Message } from './faults.ts';
import type { TestedServer } from './run-shape.ts';

const folder = path.resolve(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-everything/dist');

const cases: TestedServer['cases'] = {
  first: { tool: 'get-sum', arguments: { a: 2, b: 3 }, contains: '5' },
  target: { tool: 'echo', arguments: { message: 'Grüße, 世界 𝄞' }, contains: 'Echo: Grüße, 世界 𝄞' },
  last: { tool: 'get-structured-content', arguments: { location: 'Chicago' }, contains: 'temperature' },
};

/** Opens server-everything as processes of its own. */
export async function openEverything(): Promise<TestedServer> {
  const http = await startEverythingServer();
  return { ...http, name: 'server-everything', cases, stdio: `-- ${process.execPath} ${folder}/index.js stdio` };
}

/**
 * Opens server-everything with one process for all that speak stdio, each of which gets a server of its own: starting processes is
 * most of what a gate takes.
 */
export async function openQuickEverything(): Promise<TestedServer> {
  await using stack = new AsyncDisposableStack();
  const http = stack.use(await startEverythingServer());
  const socket = stack.use(await serveOnSocket());
  const disposal = stack.move();
  return {
    name: 'server-everything',
    cases,
    stdio: `--connect ${socket.path}`,
    url: http.url,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

/** What server-everything exports, so far as it is used. */
interface ServerModule {
  createServer: () => {
    server: { connect(transport: Transport): Promise<void>; close(): Promise<void> };
    cleanup: () => void;
  };
}

interface Transport {
  onmessage?: (message: Message) => void;
  start(): Promise<void>;
  send(message: Message): Promise<void>;
  close(): Promise<void>;
}

async function serveOnSocket(): Promise<AsyncDisposable & { path: string }> {
  const { createServer: createMcpServer } = (await import(path.join(folder, 'server/index.js'))) as ServerModule;
  const connections = new Set<Socket>();
  const serve = async (connection: Socket) => {
    connections.add(connection);
    connection.on('error', () => {});
    const { server, cleanup } = createMcpServer();
    const transport: Transport = {
      start: async () => {},
      send: async (message) => void connection.write(`${JSON.stringify(message)}\n`),
      close: async () => void connection.end(),
    };
    connection.once('close', () => {
      connections.delete(connection);
      cleanup();
      void server.close();
    });
    await server.connect(transport);
    readLines(connection, (line) => {
      const message = readMessage(line);
      if (message !== null) transport.onmessage?.(message);
    });
  };
  const file = path.join(tmpdir(), `everything-${randomUUID()}.sock`);
  const listener = createServer((connection) => void serve(connection));
  listener.listen(file);
  await once(listener, 'listening');
  return {
    path: file,
    [Symbol.asyncDispose]: async () => {
      for (const connection of connections) connection.destroy();
      listener.close();
      await once(listener, 'close');
      await rm(file, { force: true });
    },
  };
}
