import type { Readable } from 'node:stream';
import { buffer as readBuffer } from 'node:stream/consumers';
import type { Dispatcher } from 'undici';
import type { Clock } from '../base/time.ts';
import type { Grant } from '../mcp/access.ts';
import { openOutgoingBody, openRequestBody } from './flow-control.ts';
import type { FrameSocket } from './frame-socket.ts';
import type { AbortCode, TextFrame, TunnelLimits } from './frames.ts';
import { dropHopByHop, findHeader, type HeaderList, pairHeaders } from './headers.ts';
import type { TunnelTarget } from './target.ts';

export type RequestFrame = Extract<TextFrame, { t: 'req' }>;

/** A request from the relay while the target answers it. */
export interface ProxiedRequest {
  receiveBody(payload: Buffer): void;
  endBody(): void;
  grant(bytes: number): void;
  /** Aborts it without a message to the relay, which asked for that or is gone. */
  cancel(): void;
  /** Checks if it is a stream of events that a client listens to, which stays open as long as the client wants. */
  isListening(): boolean;
}

export interface ProxiedRequestOptions {
  link: FrameSocket;
  target: TunnelTarget;
  clock: Clock;
  limits: TunnelLimits;
  window: number | null;
  onEnd: (id: number) => void;
  onRefusal?: ((refusal: TargetRefusal) => void) | undefined;
}

/** A refusal by the target after which there is no other token to try. */
export interface TargetRefusal {
  /** 401 or 403. */
  status: number;
  /** The `WWW-Authenticate` header; null if the target sends none. */
  wwwAuthenticate: string | null;
}

/** The HTTP methods that carry a message to a server: no CONNECT, no TRACE. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Repeats a request on the target and returns the answer, both bodies as streams. The caller gets a 502 if the target does not answer.
 * The request is aborted if the target breaks off during the answer.
 */
export function startProxiedRequest(request: RequestFrame, context: ProxiedRequestOptions): ProxiedRequest {
  const { link, target, clock, limits, window, onEnd, onRefusal } = context;
  const { id } = request;
  const { access } = target;
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
    // Sends the code, not the message, which may name hosts behind the tunnel.
    const reason = typeof error.code === 'string' ? error.code : 'no reason given';
    refuse(502, 'SERVER_UNREACHABLE', `The server behind the tunnel did not answer: ${reason}.`);
  };

  const deliver = (status: number, headers: HeaderList) => {
    // Only POST counts: clients may send GET and DELETE to a server that allows neither.
    if ((status === 401 || status === 403) && request.method === 'POST') {
      onRefusal?.({ status, wwwAuthenticate: findHeader(headers, 'www-authenticate') ?? null });
    }
    answer(status, headers);
    if (!isEventStream(headers)) return;
    comments = openIdleComments(clock, (comment) => {
      if (!outgoing.isBlocked()) outgoing.write(comment);
    });
  };
  /** Handles one attempt. If `sendAgain` replaces it by another attempt, no part of its response is sent. */
  const createHandler = (
    sendAgain: ((status: number, headers: HeaderList) => Promise<boolean>) | null,
  ): Dispatcher.DispatchHandler => {
    let isReplaced = false;
    return {
      onRequestStart: (started) => {
        controller = started;
        if (isDone) started.abort(new Error('The caller is gone.'));
      },
      onResponseStart: (started, status) => {
        // An interim answer such as 103 precedes the final one.
        if (isDone || status < 200) return;
        const raw = Array.isArray(started.rawHeaders) ? started.rawHeaders : [];
        const headers = dropHopByHop(pairHeaders(raw.map((text) => text.toString('latin1'))));
        if (sendAgain === null || (status !== 401 && status !== 403)) return deliver(status, headers);
        started.pause();
        isReplaced = true;
        const settle = (isSentAgain: boolean) => {
          isReplaced = isSentAgain;
          if (!isSentAgain && !isDone) deliver(status, headers);
          started.resume();
        };
        // Without another token, the refusal itself is the answer.
        void sendAgain(status, headers).then(settle, () => settle(false));
      },
      onResponseData: (_controller, chunk) => {
        if (isReplaced) return;
        comments?.noteActivity(chunk);
        outgoing.write(chunk);
      },
      onResponseEnd: () => {
        if (isReplaced) return;
        comments?.stop();
        outgoing.end();
      },
      onResponseError: (_controller, error) => {
        if (!isReplaced) fail(error);
      },
    };
  };
  const send = (path: string, { payload, grant }: { payload: Buffer | Readable | null; grant: Grant | null }) => {
    if (isDone) return;
    const granted = grant?.headers ?? [];
    const names = new Set(granted.map(([name]) => name));
    const own = listHeaders(request.headers, target.origin).filter(([name]) => !names.has(name.toLowerCase()));
    const sendAgain = async (status: number, headers: HeaderList) => {
      if (grant === null || access === null) return false;
      const response = new Response(null, { status, headers: headers.map(([name, value]) => [name, value]) });
      const renewed = await access.renew(grant, response);
      if (renewed !== null) send(path, { payload, grant: renewed });
      return renewed !== null;
    };
    const options = { path, method: request.method, headers: [...own, ...granted].flat(), body: payload };
    target.pool.dispatch(options, createHandler(access?.isRenewable === true ? sendAgain : null));
  };
  const dispatch = async (path: string) => {
    if (isDone) return;
    try {
      const payload = body?.open() ?? null;
      if (access === null) return send(path, { payload, grant: null });
      // A request that may be sent twice needs its whole body.
      const isWhole = payload === null || Buffer.isBuffer(payload) || !access.isRenewable;
      const whole = isWhole ? payload : await readBuffer(payload);
      send(path, { payload: whole, grant: await access.grant(target.origin) });
    } catch (error) {
      fail(error instanceof Error ? error : new Error('unknown'));
    }
  };

  const path = target.mapPath(request.url);
  const length = findHeader(request.headers, 'content-length') ?? '0';
  if (path === null) refuse(404, 'NOT_FOUND', 'The tunnel does not lead there.');
  else if (!methods.has(request.method)) refuse(405, 'VALIDATION_ERROR', 'The tunnel does not carry this method.');
  else if (body !== null) {
    // A small body arrives in the same piece as its head; this delay sends both in one piece, too.
    queueMicrotask(() => void dispatch(path));
  } else if (length === '0') void dispatch(path);
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
 * Replaces the Host by the target's own, and drops `Expect`, which the relay has answered already. An Origin of the public URL becomes
 * the target's, for the same reason as the Host; the target judges any other Origin.
 */
function listHeaders(headers: HeaderList, targetOrigin: string): HeaderList {
  const publicHost = findHeader(headers, 'x-forwarded-host')?.toLowerCase() ?? '';
  const publicOrigins = new Set([`https://${publicHost}`, `http://${publicHost}`]);
  return dropHopByHop(headers)
    .filter(([name]) => !/^(?:host|expect)$/i.test(name))
    .map(([name, value]) => [
      name,
      /^origin$/i.test(name) && publicOrigins.has(value.toLowerCase()) ? targetOrigin : value,
    ]);
}

/** Proxies on the way close a connection that is silent for a minute, some even after half a minute. */
const idleMs = 15_000;

/** A comment line, https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream; it ends no event. */
const comment = Buffer.from(':\n');
const lineFeed = 0x0a;

/** Checks if a response is a stream of events that allows added comments. */
export function isEventStream(headers: HeaderList): boolean {
  const type = findHeader(headers, 'content-type') ?? '';
  return (
    /^text\/event-stream\b/i.test(type) &&
    findHeader(headers, 'content-encoding') === undefined &&
    findHeader(headers, 'content-length') === undefined
  );
}

export interface IdleComments {
  /** Records that the server sent this chunk. */
  noteActivity(chunk: Buffer): void;
  stop(): void;
}

/** Writes a comment after each 15 s of silence on the stream, but only between two lines. */
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
  // `stop` ends it, which is no failure.
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
