import type { Clock } from '../base/time.ts';
import { findHeader } from './headers.ts';
import type { HeaderList } from './headers.ts';

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
  saw(chunk: Buffer): void;
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
    saw: (chunk) => {
      if (chunk.length === 0) return;
      isBetweenLines = chunk.at(-1) === lineFeed;
      lastAtMs = clock.monotonicMs();
    },
    stop: () => stopped.abort(),
  };
}
