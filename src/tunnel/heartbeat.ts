import type { WebSocket } from 'ws';
import type { Clock } from '../base/time.ts';

/** Unanswered pings after which a peer is taken for gone. */
const patience = 2;

/**
 * Pings a peer every `intervalMs` and drops the connection at the third ping when the two before it had no answer: a
 * connection that was lost without a word shows in no other way. Ends with the socket or the signal.
 */
export async function keepAlive(
  socket: WebSocket,
  options: { clock: Clock; intervalMs: number; isHeld: () => boolean; signal: AbortSignal },
): Promise<void> {
  const { clock, intervalMs, isHeld, signal } = options;
  let unanswered = 0;
  const hear = () => {
    unanswered = 0;
  };
  socket.on('pong', hear).on('message', hear);
  while (!signal.aborted && socket.readyState === socket.OPEN) {
    await clock.sleep(intervalMs, { signal }).catch(() => {});
    if (signal.aborted || socket.readyState !== socket.OPEN) return;
    // While we do not read, the answers wait in the socket.
    if (isHeld()) unanswered = 0;
    else if (unanswered >= patience) return socket.terminate();
    unanswered += 1;
    socket.ping();
  }
}
