import type { BodyKind } from './frames.ts';
import { congestionBytes, type FrameSocket } from './frame-socket.ts';
import { Readable } from 'node:stream';

/** Where the bytes of a body come from: a stream, or the parser of an HTTP connection. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/** What both directions of one body need to know. */
export interface FlowOptions {
  link: FrameSocket;
  id: number;
  kind: BodyKind;
  /** Bytes that may be under way before the receiver grants more; null where the peer grants nothing. */
  window: number | null;
}

/**
 * Bytes of body in one frame. A socket is read 64 KiB at a time; what lies across two reads is copied, which of frames as
 * long as a read is every one.
 */
const frameBytes = 16_384;

/** One body on its way out. It holds back what may not be sent yet, at most what its source gives after `pause`. */
export interface OutgoingBody {
  write(chunk: Buffer): void;
  /** Ends the body once everything is sent. */
  end(): void;
  /** Takes credit that the receiver granted. */
  grant(bytes: number): void;
  /** Whether bytes wait for credit or for the socket. */
  isBlocked(): boolean;
  /** Forgets what is not sent; nothing goes out any more. */
  stop(): void;
}

/**
 * Sends a body in frames of at most `chunkBytes`, no faster than the receiver grants credit and the socket empties;
 * meanwhile the source is paused. Bodies on the same link do not wait for each other's credit.
 */
export function openOutgoingBody(
  { link, id, kind, window }: FlowOptions,
  options: {
    source: Pausable;
    chunkBytes: number;
    /** Bytes that may wait in the socket before the source is paused; `congestionBytes` unless given. */
    maxBufferedBytes?: number;
    onEnd: () => void;
  },
): OutgoingBody {
  const { source, chunkBytes, maxBufferedBytes = congestionBytes, onEnd } = options;
  const isCongested = () => link.bufferedBytes() > maxBufferedBytes;
  let credit = window ?? Number.POSITIVE_INFINITY;
  let waiting: Buffer[] = [];
  let isPaused = false;
  let isEnded = false;
  let isStopped = false;

  /** Sends one frame, if one may be sent. */
  const sendFirst = (): boolean => {
    const [chunk] = waiting;
    if (chunk === undefined || credit <= 0 || isCongested()) return false;
    const size = Math.min(chunk.length, chunkBytes, frameBytes, credit);
    link.sendBody(kind, id, chunk.subarray(0, size));
    credit -= size;
    if (size === chunk.length) waiting.shift();
    else waiting[0] = chunk.subarray(size);
    return true;
  };

  const flush = () => {
    if (isStopped) return;
    while (sendFirst());
    if (waiting.length > 0) {
      if (isCongested()) link.onceDrained(flush);
      if (!isPaused) source.pause();
      isPaused = true;
    } else if (isEnded) {
      isStopped = true;
      link.send({ t: kind === 'request' ? 'req_end' : 'res_end', id });
      onEnd();
    } else if (isPaused) {
      isPaused = false;
      source.resume();
    }
  };

  // No accessors here, or in whatever else is made for each call: every object would get a shape of its own from them, and V8
  // keeps shapes, with all that they reach, until a full collection.
  return {
    write: (chunk) => {
      if (isStopped || chunk.length === 0) return;
      waiting.push(chunk);
      flush();
    },
    end: () => {
      isEnded = true;
      flush();
    },
    grant: (bytes) => {
      credit += bytes;
      flush();
    },
    isBlocked: () => waiting.length > 0 || credit <= 0,
    stop: () => {
      isStopped = true;
      waiting = [];
    },
  };
}

/** Keeps account of one body on its way in. */
export interface IncomingBody {
  /** Records that bytes arrived and wait here. */
  received(bytes: number): void;
  /** Records that so many of them were passed on. */
  consumed(bytes: number): void;
  /** Bytes that wait here. */
  waitingBytes(): number;
  /** Records that nothing of the body is kept any more. */
  stop(): void;
}

/** What one body may keep in memory when its peer knows no credit. */
export const uncreditedBytes = 1024 * 1024;

/**
 * Grants the sender credit as bytes are passed on. A sender that goes beyond it, or knows none, is stopped by not reading
 * from the socket any more: that holds up the other bodies too, but memory stays bounded whatever the peer does.
 */
export function openIncomingBody({ link, id, window }: Omit<FlowOptions, 'kind'>): IncomingBody {
  const allowance = window ?? uncreditedBytes;
  const owner = {};
  let waitingBytes = 0;
  let ungranted = 0;
  let isStopped = false;
  return {
    received: (bytes) => {
      if (isStopped) return;
      waitingBytes += bytes;
      if (waitingBytes > allowance) link.pauseReading(owner);
    },
    consumed: (bytes) => {
      if (isStopped) return;
      waitingBytes -= bytes;
      ungranted += bytes;
      if (waitingBytes <= allowance / 2) link.resumeReading(owner);
      // In halves of the window: fewer frames, and the sender never runs dry while it waits for one.
      if (window === null || ungranted < window / 2) return;
      link.send({ t: 'window', id, n: ungranted });
      ungranted = 0;
    },
    waitingBytes: () => waitingBytes,
    stop: () => {
      isStopped = true;
      link.resumeReading(owner);
    },
  };
}

/** The body of a request on its way from the relay to the target. */
export interface RequestBody {
  /** Bytes received so far, passed on or not. */
  receivedBytes(): number;
  receive(payload: Buffer): void;
  end(): void;
  /** What is to be sent on: the whole body if it has come already, else a stream of what there is and what follows. */
  open(): Buffer | Readable;
  stop(): void;
}

/** Takes in a body, and grants the relay credit as the target reads it. */
export function openRequestBody(options: Omit<FlowOptions, 'kind'>): RequestBody {
  const incoming = openIncomingBody(options);
  let receivedBytes = 0;
  let early: Buffer[] = [];
  let isEnded = false;
  let stream: Readable | null = null;

  const grantCredit = () => incoming.consumed(incoming.waitingBytes() - (stream?.readableLength ?? 0));
  const openStream = () => {
    const opened = new Readable({ read: grantCredit });
    opened.on('error', () => {});
    for (const payload of early) opened.push(payload);
    early = [];
    stream = opened;
    grantCredit();
    return opened;
  };

  return {
    receivedBytes: () => receivedBytes,
    receive: (payload) => {
      if (isEnded || stream?.destroyed === true) return;
      receivedBytes += payload.length;
      incoming.received(payload.length);
      if (stream === null) early.push(payload);
      else {
        stream.push(payload);
        grantCredit();
      }
    },
    end: () => {
      isEnded = true;
      if (stream?.destroyed === false) stream.push(null);
    },
    open: () => {
      if (!isEnded) return openStream();
      incoming.stop();
      return Buffer.concat(early);
    },
    stop: () => {
      incoming.stop();
      stream?.destroy();
    },
  };
}
