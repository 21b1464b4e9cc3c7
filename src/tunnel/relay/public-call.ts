import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/time.ts';
import { openIncomingBody, openOutgoingBody, uncreditedBytes } from '../flow-control.ts';
import type { AbortCode } from '../frames.ts';
import { dropHopByHop, type HeaderList, pairHeaders } from '../headers.ts';
import type { FrameSocket, ReceivedFrame } from '../frame-socket.ts';
import type { RelayLimits } from './relay-limits.ts';

/** A public request with the response to it. */
export interface PublicExchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** A public request while a host answers it. */
export interface PublicCall {
  receive(frame: ReceivedFrame): void;
  /** Ends it for a reason on the relay's side of the tunnel, without a message to the host. */
  fail(code: AbortCode): void;
  /** Aborts it if its time is over and no answer has begun. */
  expire(): void;
}

/** Sends a public request to the host, and the host's answer to the client; both bodies as streams. */
export function startPublicCall(
  id: number,
  { request, response }: PublicExchange,
  context: {
    link: FrameSocket;
    limits: RelayLimits;
    /** True if the host has announced that it grants credit. A host that has not would never let a large body through. */
    grantsCredit: boolean;
    clock: Clock;
    onEnd: () => void;
  },
): PublicCall {
  const { link, limits, grantsCredit, clock, onEnd } = context;
  const { window, chunk: chunkBytes, answerTimeoutMs } = limits;
  const hasBody = request.headers['transfer-encoding'] !== undefined || readLength(request) > 0;
  const incoming = openIncomingBody({ link, id, window });
  const outgoing = openOutgoingBody(
    { link, id, kind: 'request', window: grantsCredit ? window : null },
    { source: request, chunkBytes, ...(grantsCredit ? {} : { maxBufferedBytes: uncreditedBytes }), onEnd: () => {} },
  );
  let isDone = false;
  let bodyBytes = 0;
  let receivedAtMs = clock.monotonicMs();

  const finish = () => {
    isDone = true;
    outgoing.stop();
    incoming.stop();
    // Reads and drops the rest of the request, so that the connection can serve another.
    request.resume();
    onEnd();
  };
  const fail = (code: AbortCode) => {
    if (isDone) return;
    finish();
    if (response.headersSent) response.destroy();
    else sendRefusal(response, refusals[code]);
  };
  const abort = (code: AbortCode) => {
    if (isDone) return;
    link.send({ t: 'abort', id, code });
    fail(code);
  };

  /** Applies a frame of the host to the response. A host that contradicts itself loses the request. */
  const relay = (step: () => void) => {
    try {
      step();
    } catch {
      abort('upstream_error');
    }
  };
  const writeHead = (status: number, headers: HeaderList) => {
    // If an answer's length did not match its header, its end would be read as part of the next answer.
    response.strictContentLength = true;
    response.writeHead(status, dropHopByHop(headers).flat());
    // Sends the head with the first part of the body, or alone if no part follows in this turn.
    setImmediate(() => {
      if (!isDone && !response.destroyed) response.flushHeaders();
    });
  };

  response.on('error', () => {});
  response.on('close', () => abort('client_gone'));
  request.on('error', () => abort('client_gone'));
  link.send({
    t: 'req',
    id,
    method: request.method ?? '',
    url: request.url ?? '',
    headers: listHeaders(request),
    hasBody,
  });
  if (hasBody) {
    request.on('data', (chunk: Buffer) => {
      if (isDone) return;
      bodyBytes += chunk.length;
      receivedAtMs = clock.monotonicMs();
      if (bodyBytes > limits.maxReqBody) abort('too_large');
      else outgoing.write(chunk);
    });
    request.on('end', () => outgoing.end());
  }

  return {
    receive: (frame) => {
      if (isDone) return;
      if (frame.t === 'res') relay(() => writeHead(frame.status, frame.headers));
      else if (frame.t === 'body') {
        const { length } = frame.payload;
        // Ignores bytes before a head, and empty frames.
        if (!response.headersSent || length === 0) return;
        incoming.received(length);
        relay(() => response.write(frame.payload, () => incoming.consumed(length)));
      } else if (frame.t === 'res_end') {
        relay(() => {
          if (!response.headersSent) throw new Error('There is no answer to be ended.');
          response.end();
          finish();
        });
      } else if (frame.t === 'window') outgoing.grant(frame.n);
      else if (frame.t === 'abort') fail(frame.code);
      else if (frame.t === 'ignored') abort('upstream_error');
    },
    fail,
    expire: () => {
      if (!response.headersSent && clock.monotonicMs() - receivedAtMs >= answerTimeoutMs) abort('timeout');
    },
  };
}

/** Reads the announced length of the body; 0 if there is none. */
export function readLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** The target gets its own Host header; `x-forwarded-host` carries the name that the client used. */
function listHeaders(request: IncomingMessage): HeaderList {
  const kept = dropHopByHop(pairHeaders(request.rawHeaders)).filter(([name]) => !/^(?:x-forwarded-)?host$/i.test(name));
  return [...kept, ['x-forwarded-host', request.headers.host ?? '']];
}

/** An answer by the relay itself, in the envelope of the API. */
interface RelayRefusal {
  status: number;
  code: string;
  message: string;
}

/** The answers to requests that the host or the relay refused or gave up. */
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

/** Answers a request that has no answer yet, and ends its connection, since its body may not be read to the end. */
export function sendRefusal(response: ServerResponse, { status, code, message }: RelayRefusal): void {
  if (response.headersSent || response.destroyed) return;
  const retry = status === 503 ? { 'retry-after': '1' } : {};
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...retry });
  response.end(JSON.stringify({ code, message }));
}
