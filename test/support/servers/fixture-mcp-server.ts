import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
  type NodeIncomingMessageLike,
} from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  ProtocolError,
  Server,
  type CallToolResult,
  type ListToolsResult,
  type ServerCapabilities,
  type Tool,
} from '@modelcontextprotocol/server';

/** The context of a fixture tool's call. */
export interface ToolContext {
  args: Record<string, unknown>;
  /** The id of the session; undefined in the era without sessions. */
  sessionId: string | undefined;
  /** The client's `_meta`. */
  meta: Record<string, unknown>;
  /** Aborts when the client cancels the call. */
  signal: AbortSignal;
  /** Breaks all open connections without an answer. */
  dropConnections: () => void;
}

export interface FixtureTool {
  description?: string;
  /** Accepts any object by default. */
  inputSchema?: Tool['inputSchema'];
  outputSchema?: Tool['outputSchema'];
  annotations?: Tool['annotations'];
  /** `_meta.ui.visibility`. */
  visibility?: string[];
  /** The only era that lists it; both by default. */
  era?: 'legacy' | 'modern';
  call(context: ToolContext): CallToolResult | Promise<CallToolResult>;
}

export interface FixtureMcpServer extends AsyncDisposable {
  url: string;
  /** Events, oldest first: `open`, `list`, `call <tool>`, `cancel <tool>`, `close`. */
  events: string[];
  /** Resolves once the event has happened. */
  waitFor: (event: string) => Promise<void>;
  /** Answers every open session with HTTP 404 from now on. */
  forgetSessions: () => void;
  /** Reports a change of a resource to the subscribed clients of 2026-07-28, or to all sessions. */
  reportChange: (uri: string) => Promise<void>;
  /** Reports a change of the tools to the clients of 2026-07-28 that asked for it. */
  notifyToolsChanged: () => void;
}

export function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] };
}

/** Throws an error that becomes a JSON-RPC error. */
export function refuse(code: number, message: string, data?: unknown): never {
  throw new ProtocolError(code, message, data);
}

export interface FixtureServerOptions {
  era?: 'legacy' | 'modern' | 'both';
  name?: string;
  /** The server's instructions for its use. */
  instructions?: string;
  /** Answers `tools/list`; by default, with all tools on one page. */
  list?: (tools: Tool[], cursor: string | undefined) => ListToolsResult;
  /** Only tools, by default. */
  capabilities?: ServerCapabilities;
  /** Adds handlers to every server before it is connected, or replaces its handlers for tools. */
  prepare?: (server: Server) => void;
  /** Answers a request before the server; null passes the request on. */
  guard?: (request: Request) => Promise<Response | null> | Response | null;
  /** Makes the server of each session, instead of one with the tools. */
  create?: () => Server;
}

/** Starts an MCP server on loopback: `legacy` with sessions, `modern` without, or `both` at one URL. Its tools may change while it runs. */
export async function startFixtureMcpServer(
  tools: Record<string, FixtureTool>,
  options: FixtureServerOptions = {},
): Promise<FixtureMcpServer> {
  const log = createEventLog();
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const http = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const context = { ...options, log, dropConnections: () => http.closeAllConnections() };
  const create = (listed: 'legacy' | 'modern') => options.create?.() ?? createMcpServer(tools, { ...context, listed });
  const handler = createMcpHandler(() => create('modern'), { legacy: 'reject' });
  const modern = toNodeHandler(handler);
  const servers: Server[] = [];

  async function askGuard({ method = '', url = '', headers }: IncomingMessage): Promise<Response | null> {
    if (options.guard === undefined) return null;
    const asked = new Request(`http://${headers.host}${url}`, {
      method,
      headers: new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    });
    return await options.guard(asked);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = await askGuard(request);
    if (refusal !== null) {
      response.writeHead(refusal.status, Object.fromEntries(refusal.headers)).end(await refusal.text());
      return undefined;
    }
    // Only the requests of 2026-07-28 name their method in a header.
    const isModern = options.era === 'both' ? request.headers['mcp-method'] !== undefined : options.era === 'modern';
    if (isModern) return await modern(request as NodeIncomingMessageLike, response);
    const id = request.headers['mcp-session-id'];
    const known = sessions.get(String(id));
    if (known !== undefined) return await known.handleRequest(request, response);
    if (id !== undefined) {
      response.writeHead(404).end();
      return undefined;
    }
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => {
        sessions.set(sessionId, transport);
        log.add('open');
      },
      onsessionclosed: (sessionId) => {
        sessions.delete(sessionId);
        log.add('close');
      },
    });
    const server = create('legacy');
    servers.push(server);
    await server.connect(transport);
    return await transport.handleRequest(request, response);
  }

  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    events: log.events,
    waitFor: log.waitFor,
    forgetSessions: () => sessions.clear(),
    reportChange: async (uri) => {
      handler.notify.resourceUpdated(uri);
      await Promise.all(servers.map((server) => server.sendResourceUpdated({ uri }).catch(() => {})));
    },
    notifyToolsChanged: () => handler.notify.toolsChanged(),
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

function createMcpServer(
  tools: Record<string, FixtureTool>,
  context: FixtureServerOptions & { log: EventLog; dropConnections: () => void; listed: 'legacy' | 'modern' },
): Server {
  const { name = 'fixture', instructions, capabilities = { tools: {} }, list = (all) => ({ tools: all }) } = context;
  const options = { capabilities, ...(instructions !== undefined && { instructions }) };
  const server = new Server({ name, version: '1.2.3' }, options);
  const { prepare = () => {} } = context;
  if (capabilities.tools === undefined) {
    prepare(server);
    return server;
  }
  server.setRequestHandler('tools/list', ({ params }) => {
    context.log.add('list');
    const listed = Object.entries(tools).filter(([, { era = context.listed }]) => era === context.listed);
    const all = listed.map(([name, { description, inputSchema, outputSchema, annotations, visibility }]) => ({
      name,
      inputSchema: inputSchema ?? { type: 'object' as const },
      ...(description !== undefined && { description }),
      ...(outputSchema !== undefined && { outputSchema }),
      ...(annotations !== undefined && { annotations }),
      ...(visibility !== undefined && { _meta: { ui: { visibility } } }),
    }));
    return list(all, params?.cursor);
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq, sessionId }) => {
    const { name, arguments: args = {} } = params;
    const onAbort = () => context.log.add(`cancel ${name}`);
    mcpReq.signal.addEventListener('abort', onAbort);
    context.log.add(`call ${name}`);
    const tool = tools[name] ?? refuse(-32602, `Unknown tool: ${name}`);
    const { signal, _meta: meta = {} } = mcpReq;
    const result = await tool.call({ args, sessionId, meta, signal, dropConnections: context.dropConnections });
    // A transport may abort a request that it has already answered.
    mcpReq.signal.removeEventListener('abort', onAbort);
    return result;
  });
  prepare(server);
  return server;
}

interface EventLog {
  events: string[];
  add: (event: string) => void;
  waitFor: (event: string) => Promise<void>;
}

function createEventLog(): EventLog {
  const events: string[] = [];
  const waiters: Array<{ event: string; resolve: () => void }> = [];
  return {
    events,
    add: (event) => {
      events.push(event);
      for (const waiter of waiters) if (waiter.event === event) waiter.resolve();
    },
    waitFor: async (event) => {
      if (!events.includes(event)) await new Promise<void>((resolve) => waiters.push({ event, resolve }));
    },
  };
}
