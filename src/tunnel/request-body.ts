import { Readable } from 'node:stream';
import { openIncomingBody } from './flow.ts';
import type { FlowOptions } from './flow.ts';

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

  const settle = () => incoming.consumed(incoming.waitingBytes() - (stream?.readableLength ?? 0));
  const openStream = () => {
    const opened = new Readable({ read: settle });
    opened.on('error', () => {});
    for (const payload of early) opened.push(payload);
    early = [];
    stream = opened;
    settle();
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
        settle();
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
