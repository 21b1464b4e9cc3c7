import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../base/clock.ts';
import { isEventStream, openIdleComments } from './event-stream.ts';
import type { IdleComments } from './event-stream.ts';
import { openIncomingBody, openOutgoingBody } from './flow.ts';
import type { AbortCode, TextFrame, TunnelLimits } from './frames.ts';
import { dropHopByHop, findHeader, pairHeaders } from './headers.ts';
import type { HeaderList } from './headers.ts';
import type { FrameLink } from './link.ts';
import type { TunnelTarget } from './target.ts';

export type RequestFrame = Extract<TextFrame, { t: 'req' }>;

/** One request from the relay while the target answers it. */
export interface TunnelCall {
  receiveBody(payload: Buffer): void;
  endBody(): void;
  grant(bytes: number): void;
  /** Gives it up without a word to the relay, which asked for it or is gone. */
  cancel(): void;
  /** A stream of events that a client listens to stays open for as long as the client likes. */
  readonly isListening: boolean;
}

export interface CallContext {
  link: FrameLink;
  target: TunnelTarget;
  clock: Clock;
  limits: TunnelLimits;
  window: number | null;
  onEnd: (id: number) => void;
}

/** Those of HTTP that carry a message to a server; no CONNECT, no TRACE. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Replays a request on the target and sends the answer back, both bodies as streams. A target that gives no answer is a 502
 * for the caller; one that breaks off in the middle of an answer aborts the request.
 */
export function startCall(request: RequestFrame, context: CallContext): TunnelCall {
  const { link, target, clock, limits, window, onEnd } = context;
  const { id } = request;
  let controller: Dispatcher.DispatchController | null = null;
  let comments: IdleComments | null = null;
  let isAnswered = false;
  let isDone = false;
  let bodyBytes = 0;

  const incoming = openIncomingBody({ link, id, window });
  const body = request.hasBody ? new Readable({ read: () => settle() }) : null;
  const settle = () => incoming.consumed(incoming.waitingBytes - (body?.readableLength ?? 0));

  const finish = () => {
    isDone = true;
    comments?.stop();
    outgoing.stop();
    incoming.stop();
    onEnd(id);
  };
  const source = { pause: () => controller?.pause(), resume: () => controller?.resume() };
  const outgoing = openOutgoingBody(
    { link, id, kind: 'response', window },
    { source, chunkBytes: limits.chunk, onEnd: finish },
  );

  const cancel = () => {
    if (isDone) return;
    finish();
    controller?.abort(new Error('The caller is gone.'));
    body?.destroy();
  };
  const abort = (code: AbortCode) => {
    if (isDone) return;
    link.send({ t: 'abort', id, code });
    cancel();
  };
  const answer = (status: number, headers: HeaderList) => {
    isAnswered = true;
    link.send({ t: 'res', id, status, headers });
  };
  const refuse = (status: number, code: string, message: string) => {
    answer(status, [['content-type', 'application/json']]);
    outgoing.write(Buffer.from(JSON.stringify({ code, message })));
    outgoing.end();
    body?.destroy();
  };
  const fail = (error: Error & { code?: unknown }) => {
    if (isDone) return;
    if (isAnswered) return abort('upstream_error');
    // The code and not the message, which may name what is behind the tunnel.
    const reason = typeof error.code === 'string' ? error.code : 'no reason given';
    refuse(502, 'SERVER_UNREACHABLE', `The server behind the tunnel did not answer: ${reason}.`);
  };

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (started) => {
      controller = started;
      if (isDone) started.abort(new Error('The caller is gone.'));
    },
    onResponseStart: ({ rawHeaders }, status) => {
      // An interim answer such as 103 speaks of a final one to come.
      if (isDone || status < 200) return;
      const raw = Array.isArray(rawHeaders) ? rawHeaders : [];
      const headers = dropHopByHop(pairHeaders(raw.map((text) => text.toString('latin1'))));
      answer(status, headers);
      if (isEventStream(headers)) {
        comments = openIdleComments(clock, (comment) => {
          if (!outgoing.isBlocked) outgoing.write(comment);
        });
      }
    },
    onResponseData: (_controller, chunk) => {
      comments?.saw(chunk);
      outgoing.write(chunk);
    },
    onResponseEnd: () => {
      comments?.stop();
      outgoing.end();
    },
    onResponseError: (_controller, error) => fail(error),
  };

  const path = target.mapPath(request.url);
  const length = findHeader(request.headers, 'content-length') ?? '0';
  if (path === null) refuse(404, 'NOT_FOUND', 'The tunnel does not lead there.');
  else if (!methods.has(request.method)) refuse(405, 'VALIDATION_ERROR', 'The tunnel does not carry this method.');
  else if (body === null && length !== '0') refuse(400, 'VALIDATION_ERROR', 'The request announces a body it lacks.');
  else {
    body?.on('error', () => {});
    try {
      target.pool.dispatch({ path, method: request.method, headers: listHeaders(request.headers), body }, handler);
    } catch (error) {
      fail(error instanceof Error ? error : new Error('unknown'));
    }
  }

  return {
    receiveBody: (payload) => {
      if (isDone || body === null || body.destroyed) return;
      bodyBytes += payload.length;
      if (bodyBytes > limits.maxReqBody) return abort('too_large');
      incoming.received(payload.length);
      body.push(payload);
      settle();
    },
    endBody: () => {
      if (!isDone && body !== null && !body.destroyed) body.push(null);
    },
    grant: (bytes) => outgoing.grant(bytes),
    cancel,
    get isListening() {
      return comments !== null && request.method === 'GET';
    },
  };
}

/** The Host is the target's own, and what `Expect` asks for the relay has answered already. */
function listHeaders(headers: HeaderList): string[] {
  return dropHopByHop(headers)
    .filter(([name]) => !/^(?:host|expect)$/i.test(name))
    .flat();
}
