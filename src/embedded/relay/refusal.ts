import type { ServerResponse } from 'node:http';
import type { AbortCode } from '../../tunnel/frames.ts';

/** An answer of the relay itself, in the envelope of the API. */
export interface RelayRefusal {
  status: number;
  code: string;
  message: string;
}

/** The response to a request that the host or the relay gave up before it was answered. */
export const refusals: Readonly<Record<AbortCode | 'no_host' | 'unauthorized' | 'not_found', RelayRefusal>> = {
  timeout: { status: 504, code: 'TIMEOUT', message: 'The server behind the tunnel took too long.' },
  too_large: { status: 413, code: 'VALIDATION_ERROR', message: 'The request body is too large for the tunnel.' },
  client_gone: { status: 502, code: 'SERVER_UNREACHABLE', message: 'The tunnel gave the request up.' },
  upstream_error: { status: 502, code: 'SERVER_UNREACHABLE', message: 'The tunnel lost the server or its host.' },
  overloaded: { status: 503, code: 'RATE_LIMITED', message: 'The tunnel carries as many requests as it can.' },
  no_host: { status: 503, code: 'SERVER_UNREACHABLE', message: 'No host is connected to this tunnel.' },
  unauthorized: { status: 401, code: 'UNAUTHORIZED', message: 'The tunnel was closed, or its secret is not this one.' },
  not_found: { status: 404, code: 'NOT_FOUND', message: 'Path not found.' },
};

/** Answers a request that nothing was answered to yet, and ends its connection: its body may not be read to the end. */
export function sendRefusal(response: ServerResponse, { status, code, message }: RelayRefusal): void {
  if (response.headersSent || response.destroyed) return;
  const retry = status === 503 ? { 'retry-after': '1' } : {};
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...retry });
  response.end(JSON.stringify({ code, message }));
}
