import type { ReceivedFrame } from './frame-socket.ts';
import { type ProxiedRequest, type ProxiedRequestOptions, startProxiedRequest } from './proxied-request.ts';

/** The requests under way on one connection to the relay. */
export interface RequestTable {
  receive(frame: ReceivedFrame): void;
  /** Refuses new requests; resolves when all calls have ended, except those that only listen. */
  drain(): Promise<void>;
  /** Cancels all requests under way. */
  cancelAll(): void;
  readonly inFlight: number;
  /** The last time when a call was under way, on the monotonic clock; null if there was none. */
  readonly lastCallAtMs: number | null;
}

/** Starts a call for every request frame, within the relay's limits, and passes on its later frames. */
export function createRequestTable(context: Omit<ProxiedRequestOptions, 'onEnd'>): RequestTable {
  const { link, limits, clock } = context;
  const calls = new Map<number, ProxiedRequest>();
  const drained = Promise.withResolvers<void>();
  let isDraining = false;
  let lastEndAtMs: number | null = null;

  const checkDrained = () => {
    if (isDraining && calls.values().every((call) => call.isListening())) drained.resolve();
  };
  const onEnd = (id: number) => {
    calls.delete(id);
    lastEndAtMs = clock.monotonicMs();
    checkDrained();
  };

  return {
    receive: (frame) => {
      switch (frame.t) {
        case 'req': {
          // If an id is in use, it belongs to the first call.
          if (calls.has(frame.id)) return;
          if (isDraining || calls.size >= limits.maxInflight) {
            link.send({ t: 'abort', id: frame.id, code: 'overloaded' });
            return;
          }
          let isOver = false;
          const call = startProxiedRequest(frame, {
            ...context,
            onEnd: (id) => {
              isOver = true;
              onEnd(id);
            },
          });
          // A request that is refused immediately has ended before it could be added.
          if (!isOver) calls.set(frame.id, call);
          return;
        }
        case 'body':
          if (frame.kind === 'request') calls.get(frame.id)?.receiveBody(frame.payload);
          return;
        case 'req_end':
          return calls.get(frame.id)?.endBody();
        case 'window':
          return calls.get(frame.id)?.grant(frame.n);
        case 'abort':
          return calls.get(frame.id)?.cancel();
        case 'ignored':
          if (frame.id !== null && !calls.has(frame.id)) {
            link.send({ t: 'abort', id: frame.id, code: 'upstream_error', msg: 'The request frame is not valid.' });
          }
          return;
        default:
      }
    },
    drain: () => {
      isDraining = true;
      checkDrained();
      return drained.promise;
    },
    cancelAll: () => {
      for (const call of calls.values()) call.cancel();
    },
    get inFlight() {
      return calls.size;
    },
    get lastCallAtMs() {
      return calls.size > 0 ? clock.monotonicMs() : lastEndAtMs;
    },
  };
}
