import type { Dispatcher } from 'undici';
import type { Clock } from '../base/time.ts';
import { openOutgoingBody, openRequestBody } from './flow-control.ts';
import type { AbortCode, TextFrame, TunnelLimits } from './frames.ts';
import { dropHopByHop, findHeader, pairHeaders } from './headers.ts';
import type { HeaderList } from './headers.ts';
import type { FrameSocket } from './frame-socket.ts';
import type { TunnelTarget } from './target.ts';

export type RequestFrame = Extract<TextFrame, { t: 'req' }>;

/** One request from the relay while the target answers it. */
export interface ProxiedRequest {
  receiveBody(payload: Buffer): void;
  endBody(): void;
  grant(bytes: number): void;
  /** Gives it up without a word to the relay, which asked for it or is gone. */
  cancel(): void;
  /** A stream of events that a client listens to stays open for as long as the client likes. */
  isListening(): boolean;
}

export interface ProxiedRequestOptions {
  link: FrameSocket;
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
export function startProxiedRequest(request: RequestFrame, context: ProxiedRequestOptions): ProxiedRequest {
  const { link, target, clock, limits, window, onEnd } = context;
  const { id } = request;
  let controller: Dispatcher.DispatchController | null = null;
  let comments: IdleComments | null = null;
  let isAnswered = false;
  let isDone = false;

  const body = request.hasBody ? openRequestBody({ link, id, window }) : null;
  const finish = () => {
    isDone = true;
    comments?.stop();
    outgoing.stop();
    body?.stop();
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
    body?.stop();
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
          if (!outgoing.isBlocked()) outgoing.write(comment);
        });
      }
    },
    onResponseData: (_controller, chunk) => {
      comments?.noteActivity(chunk);
      outgoing.write(chunk);
    },
    onResponseEnd: () => {
      comments?.stop();
      outgoing.end();
    },
    onResponseError: (_controller, error) => fail(error),
  };
  const dispatch = (path: string) => {
    if (isDone) return;
    const headers = listHeaders(request.headers, target.origin);
    try {
      target.pool.dispatch({ path, method: request.method, headers, body: body?.open() ?? null }, handler);
    } catch (error) {
      fail(error instanceof Error ? error : new Error('unknown'));
    }
  };

  const path = target.mapPath(request.url);
  const length = findHeader(request.headers, 'content-length') ?? '0';
  if (path === null) refuse(404, 'NOT_FOUND', 'The tunnel does not lead there.');
  else if (!methods.has(request.method)) refuse(405, 'VALIDATION_ERROR', 'The tunnel does not carry this method.');
  else if (body !== null) {
    // A small body comes in the same piece as its head, and leaves in one with it.
    queueMicrotask(() => dispatch(path));
  } else if (length === '0') dispatch(path);
  else refuse(400, 'VALIDATION_ERROR', 'The request announces a body it lacks.');

  return {
    receiveBody: (payload) => {
      if (isDone || body === null) return;
      if (body.receivedBytes() + payload.length > limits.maxReqBody) return abort('too_large');
      body.receive(payload);
    },
    endBody: () => {
      if (!isDone) body?.end();
    },
    grant: (bytes) => outgoing.grant(bytes),
    cancel,
    isListening: () => comments !== null && request.method === 'GET',
  };
}

/**
 * The Host is the target's own, and what `Expect` asks for the relay has answered already. An Origin that is the public URL's
 * becomes the target's for the same reason as the Host; any other is for the target to judge.
 */
function listHeaders(headers: HeaderList, targetOrigin: string): string[] {
  const publicHost = findHeader(headers, 'x-forwarded-host')?.toLowerCase() ?? '';
  const publicOrigins = new Set([`https://${publicHost}`, `http://${publicHost}`]);
  return dropHopByHop(headers)
    .filter(([name]) => !/^(?:host|expect)$/i.test(name))
    .flatMap(([name, value]) => [
      name,
      /^origin$/i.test(name) && publicOrigins.has(value.toLowerCase()) ? targetOrigin : value,
    ]);
}

/** Proxies on the way cut a connection that is silent for a minute or even half of one. */
const idleMs = 15_000;

/** A comment line, https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream; it ends no event. */
const comment = Buffer.from(':\n');
const lineFeed = 0x0a;

/** Whether a response is a stream of events into which comments may be put. */
export function isEventStream(headers: HeaderList): boolean {
  const type = findHeader(headers, 'content-type') ?? '';
  return (
    /^text\/event-stream\b/i.test(type) &&
    findHeader(headers, 'content-encoding') === undefined &&
    findHeader(headers, 'content-length') === undefined
  );
}

export interface IdleComments {
  /** Records that the server sent this. */
  noteActivity(chunk: Buffer): void;
  stop(): void;
}

/** Writes a comment whenever the stream was silent for 15 s, but only between two lines. */
export function openIdleComments(clock: Clock, write: (chunk: Buffer) => void): IdleComments {
  const stopped = new AbortController();
  let lastAtMs = clock.monotonicMs();
  let isBetweenLines = true;
  const run = async () => {
    for (;;) {
      await clock.sleep(lastAtMs + idleMs - clock.monotonicMs(), { signal: stopped.signal });
      if (clock.monotonicMs() - lastAtMs < idleMs) continue;
      if (isBetweenLines) write(comment);
      lastAtMs = clock.monotonicMs();
    }
  };
  // It ends with `stop`, which is not a failure.
  run().catch(() => {});
  return {
    noteActivity: (chunk) => {
      if (chunk.length === 0) return;
      isBetweenLines = chunk.at(-1) === lineFeed;
      lastAtMs = clock.monotonicMs();
    },
    stop: () => stopped.abort(),
  };
}
