import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const messages: Readonly<Record<number, string>> = {
  400: 'The request is not valid HTTP.',
  403: 'Only programs of this machine may open a tunnel.',
  401: 'A tunnel needs the token of its grant.',
  404: 'Path not found.',
  408: 'The request did not arrive in time.',
  417: 'The expectation in the header Expect cannot be met.',
  431: 'The headers of the request are too large.',
};

const codes: Readonly<Record<number, string>> = { 401: 'UNAUTHORIZED', 403: 'FORBIDDEN', 404: 'NOT_FOUND' };

/** Ends a connection with a refusal. */
export function refuseStream(stream: Duplex, status: number, message?: string): void {
  const body = renderRefusal(status, message);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  stream.on('error', () => {});
  stream.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Renders a refusal in the API's format: `{code, message}`. */
export function renderRefusal(status: number, message = messages[status] ?? 'The request was refused.'): string {
  return JSON.stringify({ code: codes[status] ?? 'VALIDATION_ERROR', message });
}
