import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ToolContext } from './fixture-mcp-server.ts';

/** A tool that needs only these parts of a call. */
export interface LightTool {
  call(context: Pick<ToolContext, 'args' | 'signal' | 'dropConnections'>): CallToolResult | Promise<CallToolResult>;
}

export interface LightMcpServer extends AsyncDisposable {
  url: string;
}

interface Session {
  calls: Map<unknown, AbortController>;
  /** The stream on which the client listens between calls. */
  stream?: ServerResponse;
}

interface Message {
  id?: number | string;
  method?: string;
  params?: { name?: string; arguments?: Record<string, unknown>; requestId?: number | string };
}

const eventStream = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };

/**
 * Starts an MCP server of 2025-11-25 on loopback, with sessions and streams. It answers like fixture-mcp-server.ts but needs less processor time,
 * because no SDK checks the requests. For tests of services and networks; tests of clients and servers use the fixture.
 */
export async function startLightMcpServer(tools: Record<string, LightTool>): Promise<LightMcpServer> {
  const sessions = new Map<string, Session>();
  const http = createServer((request, response) => {
    response.on('error', () => {});
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    if (id === undefined) return greet(JSON.parse(await readText(request)) as Message, response);
    const session = sessions.get(String(id));
    if (session === undefined) return void response.writeHead(404).end();
    const headers = { ...eventStream, 'mcp-session-id': id };
    if (request.method === 'GET') {
      session.stream = response.writeHead(200, headers);
      return response.flushHeaders();
    }
    if (request.method === 'DELETE') {
      sessions.delete(String(id));
      session.stream?.end();
      for (const call of session.calls.values()) call.abort();
      return void response.end();
    }
    const message = JSON.parse(await readText(request)) as Message;
    if (message.id === undefined) {
      if (message.method === 'notifications/cancelled') session.calls.get(message.params?.requestId)?.abort();
      return void response.writeHead(202).end();
    }
    response.writeHead(200, headers);
    // A call may take long, and its stream stays open.
    if (message.method === 'tools/call') response.flushHeaders();
    return void response.end(renderEvent({ id: message.id, ...(await reply(session, message)) }));
  }

  function greet({ id, method }: Message, response: ServerResponse): void {
    if (method !== 'initialize') return void response.writeHead(400).end();
    const sessionId = randomUUID();
    sessions.set(sessionId, { calls: new Map() });
    response
      .writeHead(200, { ...eventStream, 'mcp-session-id': sessionId })
      .end(renderEvent({ id, result: handshake }));
  }

  async function reply({ calls }: Session, { id, method, params = {} }: Message): Promise<object> {
    if (method === 'tools/list') return { result: { tools: listed } };
    if (method !== 'tools/call') return { error: { code: -32_601, message: 'Method not found' } };
    const tool = tools[params.name ?? ''];
    if (tool === undefined) return { error: { code: -32_602, message: `Unknown tool: ${params.name}` } };
    const call = new AbortController();
    calls.set(id, call);
    const dropConnections = () => http.closeAllConnections();
    const result = await tool.call({ args: params.arguments ?? {}, signal: call.signal, dropConnections });
    calls.delete(id);
    return { result };
  }

  const listed = Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } }));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'fixture', version: '1.2.3' },
};

const renderEvent = (message: object) => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
