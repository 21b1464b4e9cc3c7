import type { ServerStartError } from '../base/errors.ts';
import { type Clock, race } from '../base/time.ts';

/**
 * Waits for a probe to succeed. The wait ends if the process ends, the time runs out or the caller aborts. The probe's signal aborts once
 * the wait is over.
 *
 * @throws the error that `exited` resolves to, the error that `createTimeoutError` makes, or the signal's reason
 */
export async function waitForReadiness<T>(
  probe: (signal: AbortSignal) => Promise<T>,
  options: {
    clock: Clock;
    signal: AbortSignal;
    readyTimeoutMs: number;
    createTimeoutError: () => ServerStartError;
    exited: Promise<ServerStartError>;
  },
): Promise<T> {
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const exit = options.exited.then((error) => {
    throw error;
  });
  try {
    return await race(Promise.race([probe(signal), exit]), {
      signals: [options.signal],
      timeout: {
        clock: options.clock,
        afterMs: options.readyTimeoutMs,
        onTimeout: () => {
          throw options.createTimeoutError();
        },
      },
    });
  } finally {
    over.abort();
  }
}
