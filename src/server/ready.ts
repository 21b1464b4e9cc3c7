import type { ServerStartError } from '../base/errors.ts';
import { type Clock, race } from '../base/time.ts';

/**
 * Waits for a probe to succeed, but no longer than the process lives, the time allowed lasts or the caller wants. The probe's
 * signal is aborted as soon as the wait is over.
 *
 * @throws what `exited` resolves to, or what `createTimeoutError` makes, or the signal's reason.
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
