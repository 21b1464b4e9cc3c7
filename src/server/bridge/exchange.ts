import type { IncomingMessage, ServerResponse } from 'node:http';
import { CancelledError } from '../../base/errors.ts';
import { type Message, type MessageId, renderError, rpcErrorCodes } from './bridge-messages.ts';

/** Larger requests are refused: no tool call is that large, and every request is held in memory. */
const maxBodyBytes = 16 * 1024 * 1024;

/** One HTTP request with its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts if the client disconnects before it has the whole response. */
  readonly signal: AbortSignal;
}

/** Serves one era of the protocol over HTTP, for servers on stdio. */
export interface ProtocolAdapter extends AsyncDisposable {
  post(message: Message, exchange: Exchange): Promise<void>;
  get(exchange: Exchange): Promise<void>;
  delete(exchange: Exchange): Promise<void>;
  /** Called every few seconds: keeps streams alive and ends idle sessions. */
  tick(): void;
}

export function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) left.abort(new CancelledError('The client left before it had its response.'));
  });
  return { request, response, signal: left.signal };
}

/** Answers with a JSON-RPC error outside of any stream. */
export function refuse(
  { response }: Pick<Exchange, 'response'>,
  status: number,
  error: { code?: number; message: string; data?: unknown; id?: MessageId; headers?: Record<string, string> },
): void {
  if (response.headersSent || response.destroyed) return;
  const { id = null, headers = {}, code = rpcErrorCodes.connectionClosed, ...rest } = error;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(renderError(id, { code, ...rest }));
}

/** Reads the body as text; undefined if it is too large (answered with 413) or not UTF-8 (400). */
export async function readBody(exchange: Exchange): Promise<string | undefined> {
  const { request } = exchange;
  const declaredBytes = Number(request.headers['content-length'] ?? 0);
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (declaredBytes <= maxBodyBytes) {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (!Buffer.isBuffer(chunk)) continue;
      bytes += chunk.length;
      if (bytes > maxBodyBytes) break;
      chunks.push(chunk);
    }
  }
  if (Math.max(bytes, declaredBytes) > maxBodyBytes) {
    // The rest is not read, so the connection cannot serve another request.
    refuse(exchange, 413, {
      message: `The body is larger than ${maxBodyBytes} bytes.`,
      headers: { connection: 'close' },
    });
    exchange.response.once('finish', () => request.destroy());
    return undefined;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    refuse(exchange, 400, { code: rpcErrorCodes.parseError, message: 'The body is not UTF-8.' });
    return undefined;
  }
}

/** Reads a header's value; undefined if it is missing or sent more than once. */
export function readHeader(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name];
  return values?.length === 1 ? values[0] : undefined;
}
