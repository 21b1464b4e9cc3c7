import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../base/time.ts';
import { keepAlive, openFrameSocket } from '../frame-socket.ts';
import type { RelayLimits } from './relay-limits.ts';
import { type PublicCall, type PublicExchange, refusals, sendRefusal, startPublicCall } from './public-call.ts';

/** A connected host. */
export interface Agent {
  /** Passes a request to the host, which answers it. */
  serve(exchange: PublicExchange): void;
  /** Fails its requests and closes its connection. */
  close(closeCode: number): void;
}

const pingIntervalMs = 5000;
const leaveTimeoutMs = 300;
/** One check of all requests under way costs less than a timer for each. */
const expiryIntervalMs = 1000;
/** Ids are unsigned 32-bit integers on the wire. No request has the id 0: a `window` frame with it announces credit. */
const idCount = 2 ** 32;

/** Greets a host and passes requests to it until its socket closes; `onClose` gets the close code. */
export function openAgent(
  { socket, stream }: { socket: WebSocket; stream: Duplex },
  options: { slug: string; limits: RelayLimits; clock: Clock; onClose: (closeCode: number) => void },
): Agent {
  const { slug, limits, clock, onClose } = options;
  const { window, maxReqBody, chunk, maxInflight } = limits;
  const calls = new Map<number, PublicCall>();
  const over = new AbortController();
  let lastId = 0;
  let grantsCredit = false;

  const link = openFrameSocket({ socket, stream }, (frame) => {
    if (frame.t === 'window' && frame.id === 0) grantsCredit = true;
    else if ('id' in frame && frame.id !== null) calls.get(frame.id)?.receive(frame);
  });
  const failAll = () => {
    for (const call of calls.values()) call.fail('upstream_error');
  };
  const expireCalls = async () => {
    for (;;) {
      await clock.sleep(expiryIntervalMs, { signal: over.signal });
      for (const call of calls.values()) call.expire();
    }
  };
  socket.on('error', () => {});
  socket.on('close', (closeCode) => {
    over.abort();
    failAll();
    onClose(closeCode);
  });
  link.send({ t: 'hello', proto: 1, slug, limits: { maxReqBody, chunk, maxInflight }, window });
  void keepAlive(socket, { clock, intervalMs: pingIntervalMs, isPaused: () => link.isPaused, signal: over.signal });

  // It ends with the socket, which is no failure.
  expireCalls().catch(() => {});

  return {
    serve: (exchange) => {
      if (calls.size >= maxInflight) return sendRefusal(exchange.response, refusals.overloaded);
      do lastId = (lastId + 1) % idCount;
      while (lastId === 0 || calls.has(lastId));
      const id = lastId;
      calls.set(
        id,
        startPublicCall(id, exchange, { link, limits, grantsCredit, clock, onEnd: () => calls.delete(id) }),
      );
    },
    close: (closeCode) => {
      failAll();
      socket.close(closeCode);
      const leave = async () => {
        await clock.sleep(leaveTimeoutMs, { signal: over.signal });
        socket.terminate();
      };
      leave().catch(() => {});
    },
  };
}
