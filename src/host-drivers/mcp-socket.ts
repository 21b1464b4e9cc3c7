import { createServer, type Socket } from 'node:net';
import { isRecord, type JsonObject, tryParseJson } from '../base/json.ts';

/** The answer to a request of a host. */
export type McpAnswer = { result: unknown } | { error: { code: number; message: string } };

/** Answers the requests of a host to one server. Never rejects. */
export type AnswerMcp = (method: string, params: JsonObject) => Promise<McpAnswer>;

/** A longer line is no message of a host. */
const maxLineLength = 64 * 1024 * 1024;

/**
 * Serves MCP, one message per line, to the stubs that connect to a socket at `path`. A host may connect more than once. Disposing it ends
 * all connections.
 */
export async function serveMcp(path: string, answer: AnswerMcp): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    let rest = '';
    socket.on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLineLength) socket.destroy();
      for (const line of lines) void answerLine(line, answer, socket);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

async function answerLine(line: string, answer: AnswerMcp, socket: Socket): Promise<void> {
  const message = tryParseJson(line);
  if (!isRecord(message) || typeof message['method'] !== 'string' || message['id'] === undefined) return;
  const { id, method, params } = message;
  const answered = await answer(method, isRecord(params) ? params : {});
  if (socket.writable) socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answered })}\n`);
}
