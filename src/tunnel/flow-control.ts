import { Readable } from 'node:stream';
import { congestionBytes, type FrameSocket } from './frame-socket.ts';
import type { BodyKind } from './frames.ts';

/** The source of a body's bytes: a stream, or the parser of an HTTP connection. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/** The options of a body in either direction. */
export interface FlowOptions {
  link: FrameSocket;
  id: number;
  kind: BodyKind;
  /** The bytes that may be under way before the receiver grants more; null if the peer grants no credit. */
  window: number | null;
}

/**
 * The bytes of body in one frame. A socket is read 64 KiB at a time, and a frame that spans two reads is copied. Every frame as long as a
 * read would span two.
 */
const frameBytes = 16_384;

/** One outgoing body. It keeps the bytes that may not be sent yet: at most those that its source delivers after `pause`. */
export interface OutgoingBody {
  write(chunk: Buffer): void;
  /** Ends the body once everything is sent. */
  end(): void;
  /** Adds credit that the receiver granted. */
  grant(bytes: number): void;
  /** Checks if bytes wait for credit or for the socket. */
  isBlocked(): boolean;
  /** Drops the unsent bytes, and sends nothing more. */
  stop(): void;
}

/**
 * Sends a body in frames of at most `chunkBytes`, no faster than the receiver grants credit and the socket empties; meanwhile the source
 * is paused. Bodies on the same link do not wait for each other's credit.
 */
export function openOutgoingBody(
  { link, id, kind, window }: FlowOptions,
  options: {
    source: Pausable;
    chunkBytes: number;
    /** The bytes that may wait in the socket before the source is paused; by default `congestionBytes`. */
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

  // Neither this object nor any other that is made for each call has accessors: each object would get its own shape from them, and V8
  // keeps shapes, with everything they reach, until a full collection.
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

/** Counts the bytes of one incoming body. */
export interface IncomingBody {
  /** Records bytes that arrived and wait here. */
  received(bytes: number): void;
  /** Records bytes that were passed on. */
  consumed(bytes: number): void;
  /** Returns the number of bytes that wait here. */
  waitingBytes(): number;
  /** Records that the body is no longer kept. */
  stop(): void;
}

/** The most bytes that one body may keep in memory if its peer does not use credit. */
export const uncreditedBytes = 1024 * 1024;

/**
 * Grants credit to the sender as bytes are passed on. If a sender exceeds its credit, or does not use credit, reading from the socket
 * stops. That holds up the other bodies, too, but bounds the memory whatever the peer does.
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
      // Grants half of a window at a time: that takes fewer frames, and the sender does not run out of credit while it waits for a grant.
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
  /** Returns the bytes received so far, including those that were passed on. */
  receivedBytes(): number;
  receive(payload: Buffer): void;
  end(): void;
  /** Returns the body to send on: all of it if it has arrived completely, else a stream of the received and the following parts. */
  open(): Buffer | Readable;
  stop(): void;
}

/** Receives a body, and grants credit to the relay as the target reads it. */
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
