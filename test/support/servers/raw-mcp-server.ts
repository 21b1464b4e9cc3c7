import type { ServerResponse } from 'node:http';
import { startHttpServer, type ReceivedRequest, type TestHttpServer } from '../network/http-server.ts';

/** Answers a call with bytes that no SDK would write. `id` is that of the request. */
export type RawCall = (response: ServerResponse, id: number, request: ReceivedRequest) => void | Promise<void>;

export interface RawTool {
  /** JSON text. */
  outputSchema?: string;
  call: RawCall;
}

export interface RawMcpServer extends TestHttpServer {
  url: string;
}

/** Starts an MCP server (2025-11-25) with handwritten answers. `get` and `initialize` replace its default answers. */
export async function startRawMcpServer(
  tools: Record<string, RawTool>,
  { get, initialize }: { get?: RawCall; initialize?: RawCall } = {},
): Promise<RawMcpServer> {
  const server = await startHttpServer(async (response, request) => {
    if (request.method === 'GET' && get !== undefined) return get(response, 0, request);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(request.body) as { id?: number; method?: string; params?: { name?: string } };
    const { id, method = '', params } = message;
    if (id === undefined || method === '') return void response.writeHead(202).end();
    if (method === 'initialize' && initialize !== undefined) return initialize(response, id, request);
    if (method === 'tools/call') return tools[params?.name ?? '']?.call(response, id, request);
    const result = method === 'initialize' ? handshake : `{"tools":[${Object.entries(tools).map(renderTool).join()}]}`;
    return answerWith(result)(response, id, request);
  });
  return { ...server, url: `${server.origin}/mcp` };
}

const handshake = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '0' },
});

function renderTool([name, { outputSchema }]: [string, RawTool]): string {
  const schema = outputSchema === undefined ? '' : `,"outputSchema":${outputSchema}`;
  return `{"name":"${name}","inputSchema":{"type":"object"}${schema}}`;
}

/** Answers with a result, as JSON text. */
export function answerWith(result: string): RawCall {
  return (response, id) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
}

/** Answers with structured content, as JSON text. */
export function answerContent(structuredContent: string): RawCall {
  return answerWith(`{"content":[],"structuredContent":${structuredContent}}`);
}
