import type { ServerResponse } from 'node:http';
import { startHttpServer, type TestHttpServer } from '../network/http-server.ts';

/** The reaction of a server of 2024-11-05 to a tool call. `stream` is the response to the client's GET. */
export type OnCall = (stream: ServerResponse, call: { id: number; response: ServerResponse }) => void;

export const writeEvent = (stream: ServerResponse, event: string, data: string) =>
  stream.write(`event: ${event}\ndata: ${data}\n\n`);

/** Starts a server over HTTP+SSE with the tool `look`. It has one session at a time. */
export async function startSseServer(
  onCall: OnCall,
  { endpoint = '/messages?session=1' }: { endpoint?: string } = {},
): Promise<TestHttpServer> {
  let stream: ServerResponse | null = null;
  return await startHttpServer((response, { method, url, body }) => {
    if (method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      writeEvent(response, 'endpoint', endpoint);
      return;
    }
    const { id, method: asked } = JSON.parse(body) as { id: number; method: string };
    if (stream === null || url === '/sse') return void response.writeHead(405).end();
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name: 'old', version: '1' },
      },
      'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
    };
    if (asked === 'tools/call') return onCall(stream, { id, response });
    response.writeHead(202).end('Accepted');
    if (asked in results) writeEvent(stream, 'message', JSON.stringify({ jsonrpc: '2.0', id, result: results[asked] }));
  });
}

/** Answers every call with `seen`. */
export const answers: OnCall = (stream, { id, response }) => {
  response.writeHead(202).end('Accepted');
  const result = { content: [{ type: 'text', text: 'seen' }] };
  writeEvent(stream, 'message', JSON.stringify({ jsonrpc: '2.0', id, result }));
};
