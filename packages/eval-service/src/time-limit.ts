import { type Clock, formatDuration, race } from '../../../src/base/time.ts';
import { ApiError } from './envelope.ts';

/**
 * Answers a request within a time limit. The signal of the work aborts at the limit, and if the client disconnects.
 *
 * @throws {ApiError} TIMEOUT at the limit, or if the client has disconnected.
 */
export async function answerWithin<Answer>(
  work: (signal: AbortSignal) => Promise<Answer>,
  { clock, timeoutMs, client, what }: { clock: Clock; timeoutMs: number; client: AbortSignal; what: string },
): Promise<Answer> {
  const ending = new AbortController();
  const refuse = (message: string) => new ApiError('TIMEOUT', message);
  const leave = () => ending.abort(refuse(`The client left before ${what} was over.`));
  if (client.aborted) leave();
  else client.addEventListener('abort', leave, { once: true });
  const onTimeout = () => {
    const error = refuse(`${what} took longer than ${formatDuration(timeoutMs)}.`);
    ending.abort(error);
    throw error;
  };
  try {
    const timeout = { clock, afterMs: timeoutMs, onTimeout };
    return await race(work(ending.signal), { signals: [ending.signal], timeout });
  } finally {
    client.removeEventListener('abort', leave);
  }
}
