import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refuseStream, renderRefusal } from '../../../src/tunnel/relay/refuse-stream.ts';

/** Statuses for the error codes of Node's parser. A request with any other code is malformed (400). */
const parserStatuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers requests that never reach the app in the form of the API: `{code, message}`. */
export function answerRawRefusals(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, stream: Duplex) => {
    if (error.code === 'ECONNRESET' || !stream.writable) return void stream.destroy();
    refuseStream(stream, parserStatuses[error.code ?? ''] ?? 400);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = renderRefusal(417);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    };
    response.writeHead(417, headers).end(body);
  });
}
