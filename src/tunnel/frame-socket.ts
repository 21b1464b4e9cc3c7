import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { parseBodyFrame, parseTextFrame, renderBodyFrame, renderTextFrame } from './frames.ts';
import type { BodyFrame, BodyKind, IgnoredFrame, TextFrame } from './frames.ts';
import type { Clock } from '../base/time.ts';

/** Bytes waiting in a socket above which no more body is sent until they have left; more of them only leave the caches. */
export const congestionBytes = 256 * 1024;

/** Bytes that are sent at once, without waiting for others of the same turn. */
const flushBytes = 65_536;

/** A WebSocket as both ends of the tunnel use it: frames in and out, and the means to slow either direction down. */
export interface FrameSocket {
  send(frame: TextFrame): void;
  sendBody(kind: BodyKind, id: number, payload: Buffer): void;
  /** Bytes that wait to be sent. */
  bufferedBytes(): number;
  /** Calls back once, when a link with bytes that wait is empty again. */
  onceDrained(callback: () => void): void;
  /** Stops reading from the socket until every owner of a pause has resumed. */
  pauseReading(owner: object): void;
  resumeReading(owner: object): void;
  readonly isPaused: boolean;
}

export type ReceivedFrame = TextFrame | BodyFrame | IgnoredFrame;

/**
 * Sends and receives frames over a WebSocket. `stream` is the connection below it: what is written in one turn of the
 * event loop leaves in one piece, which for small calls is almost half as much again in throughput.
 */
export function openFrameSocket(
  { socket, stream }: { socket: WebSocket; stream: Duplex },
  receive: (frame: ReceivedFrame) => void,
): FrameSocket {
  const holders = new Set<object>();
  const drained = new Set<() => void>();
  let isCorked = false;

  const flush = () => {
    if (!isCorked) return;
    isCorked = false;
    stream.uncork();
  };
  const cork = () => {
    if (isCorked) return;
    isCorked = true;
    stream.cork();
    setImmediate(flush);
  };

  stream.on('drain', () => {
    const callbacks = [...drained];
    drained.clear();
    for (const callback of callbacks) callback();
  });
  socket.on('message', (data, isBinary) => {
    if (Buffer.isBuffer(data)) receive(isBinary ? parseBodyFrame(data) : parseTextFrame(data.toString()));
  });

  return {
    send: (frame) => {
      if (socket.readyState !== socket.OPEN) return;
      cork();
      // A failure to send ends the socket, and its close event reports that.
      socket.send(renderTextFrame(frame), () => {});
    },
    sendBody: (kind, id, payload) => {
      if (socket.readyState !== socket.OPEN) return;
      cork();
      socket.send(renderBodyFrame(kind, id, payload), () => {});
      // The other side may as well begin with it.
      if (stream.writableLength >= flushBytes) flush();
    },
    bufferedBytes: () => socket.bufferedAmount,
    onceDrained: (callback) => {
      drained.add(callback);
    },
    pauseReading: (owner) => {
      holders.add(owner);
      socket.pause();
    },
    resumeReading: (owner) => {
      if (holders.delete(owner) && holders.size === 0) socket.resume();
    },
    get isPaused() {
      return holders.size > 0;
    },
  };
}

/** Unanswered pings after which a peer is taken for gone. */
const maxMissedPongs = 2;

/**
 * Pings a peer every `intervalMs` and drops the connection at the third ping when the two before it had no answer: a
 * connection that was lost without a word shows in no other way. Ends with the socket or the signal.
 */
export async function keepAlive(
  socket: WebSocket,
  options: { clock: Clock; intervalMs: number; isPaused: () => boolean; signal: AbortSignal },
): Promise<void> {
  const { clock, intervalMs, isPaused, signal } = options;
  let unanswered = 0;
  const noteActivity = () => {
    unanswered = 0;
  };
  socket.on('pong', noteActivity).on('message', noteActivity);
  while (!signal.aborted && socket.readyState === socket.OPEN) {
    await clock.sleep(intervalMs, { signal }).catch(() => {});
    if (signal.aborted || socket.readyState !== socket.OPEN) return;
    // While we do not read, the answers wait in the socket.
    if (isPaused()) unanswered = 0;
    else if (unanswered >= maxMissedPongs) return socket.terminate();
    unanswered += 1;
    socket.ping();
  }
}
