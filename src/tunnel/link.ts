import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { parseBodyFrame, parseTextFrame, renderBodyHead, renderTextFrame } from './frames.ts';
import type { BodyFrame, BodyKind, IgnoredFrame, TextFrame } from './frames.ts';

/** Bytes waiting in a socket above which no more body is sent until they have left; more of them only leave the caches. */
export const congestionBytes = 256 * 1024;

/** Bytes that are sent at once, without waiting for others of the same turn. */
const flushBytes = 65_536;

/** A WebSocket as both ends of the tunnel use it: frames in and out, and the means to slow either direction down. */
export interface FrameLink {
  send(frame: TextFrame): void;
  sendBody(kind: BodyKind, id: number, payload: Buffer): void;
  /** Bytes that wait to be sent. */
  bufferedBytes(): number;
  /** Calls back once, when a link with bytes that wait is empty again. */
  onceDrained(callback: () => void): void;
  /** Stops reading from the socket until every owner of a hold has released it. */
  hold(owner: object): void;
  release(owner: object): void;
  readonly isHeld: boolean;
}

export type ReceivedFrame = TextFrame | BodyFrame | IgnoredFrame;

/**
 * Sends and receives frames over a WebSocket. `stream` is the connection below it: what is written in one turn of the
 * event loop leaves in one piece, which for small calls is almost half as much again in throughput.
 */
export function openLink(
  { socket, stream, isMasked }: { socket: WebSocket; stream: Duplex; isMasked: boolean },
  receive: (frame: ReceivedFrame) => void,
): FrameLink {
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
      // A failure to send is the end of the socket, of which its own events tell.
      socket.send(renderTextFrame(frame), () => {});
    },
    sendBody: (kind, id, payload) => {
      if (socket.readyState !== socket.OPEN) return;
      cork();
      const head = renderBodyHead(kind, id);
      // Past the WebSocket library, which takes a message in one piece: joining them would copy every body once more.
      stream.write(renderMessageHead(head.length + payload.length, isMasked));
      stream.write(head);
      stream.write(payload);
      // The other side may as well begin with it.
      if (stream.writableLength >= flushBytes) flush();
    },
    bufferedBytes: () => socket.bufferedAmount,
    onceDrained: (callback) => {
      drained.add(callback);
    },
    hold: (owner) => {
      holders.add(owner);
      socket.pause();
    },
    release: (owner) => {
      if (holders.delete(owner) && holders.size === 0) socket.resume();
    },
    get isHeld() {
      return holders.size > 0;
    },
  };
}

/**
 * Renders the head of a binary message in one frame, RFC 6455 §5.2; masked, as clients have to, with a key of zeros, which
 * leaves the payload as it is.
 */
function renderMessageHead(length: number, isMasked: boolean): Buffer {
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + lengthBytes + (isMasked ? 4 : 0));
  const mask = isMasked ? 0x80 : 0;
  head[0] = 0x82;
  head[1] = mask | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(length, 2);
  else if (lengthBytes === 8) head.writeUIntBE(length, 4, 6);
  return head;
}
