import { type Clock, formatDuration } from '../../base/time.ts';
import { describeError, TunnelError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProxySettings } from '../../http/proxy.ts';
import type { Secret } from '../../base/redaction.ts';
import { endSentence } from '../../base/text.ts';
import { openProxyRoute } from '../../http/dispatcher.ts';
import { probeHttpServer } from '../../mcp/probe-http.ts';

export interface PublicUrlWatch extends AsyncDisposable {
  /** Resolves when an MCP handshake has succeeded at the public URL. */
  readonly ready: Promise<void>;
  /** Resolves when none has succeeded for a minute. Never rejects. */
  readonly lost: Promise<TunnelError>;
}

/** The time limit from the relay's greeting to the first handshake; the server itself is known to answer. */
const readyTimeoutMs = 30_000;
const retryDelayMs = 500;
const probeIntervalMs = 20_000;
const probeTimeoutMs = 15_000;
/** The longest time that a tunnel may be down before it counts as lost. */
const longestOutageMs = 60_000;

/**
 * Tries an MCP handshake at the public URL, on the same way as the service: first until one succeeds, then every 20 s. This alone detects a
 * tunnel that is connected and leads nowhere.
 */
export function watchPublicUrl(
  readUrl: () => Secret,
  options: {
    clock: Clock;
    logger: Logger;
    proxy: ProxySettings | undefined;
    isOneAtATime: boolean;
    hostLost: Promise<TunnelError>;
    signal: AbortSignal;
  },
): PublicUrlWatch {
  const { clock, logger, isOneAtATime, hostLost } = options;
  const closing = new AbortController();
  const signal = AbortSignal.any([options.signal, closing.signal]);
  const ready = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<TunnelError>();

  const watch = async () => {
    await using route = openProxyRoute(options.proxy ?? { httpProxy: null, httpsProxy: null, noProxy: null });
    /** Tries a handshake. Returns the reason of a failure; null if the server answered. */
    const probe = async (timeoutMs: number): Promise<string | null> => {
      const url = readUrl().reveal();
      const probed = new AbortController();
      const limit = clock.sleep(timeoutMs, { signal: probed.signal }).then(
        () => probed.abort(),
        () => {},
      );
      try {
        const either = AbortSignal.any([signal, probed.signal]);
        await probeHttpServer(url, { clock, signal: either, dispatcher: route.dispatcher });
        return null;
      } catch (error) {
        if (probed.signal.aborted) return 'no answer';
        // HTTP clients often quote the URL that they could not reach.
        return describeError(error).replaceAll(url, 'the public URL');
      } finally {
        probed.abort();
        await limit;
      }
    };

    const startedMs = clock.monotonicMs();
    for (;;) {
      const leftMs = startedMs + readyTimeoutMs - clock.monotonicMs();
      const failure = await probe(Math.max(1000, Math.min(probeTimeoutMs, leftMs)));
      signal.throwIfAborted();
      if (failure === null) break;
      if (leftMs <= retryDelayMs) throw createUnreachableError(readyTimeoutMs, failure);
      await clock.sleep(retryDelayMs, { signal });
    }
    ready.resolve();
    if (isOneAtATime) return;
    let answeredMs = clock.monotonicMs();
    for (;;) {
      await clock.sleep(probeIntervalMs, { signal });
      const failure = await probe(probeTimeoutMs);
      signal.throwIfAborted();
      if (failure === null) answeredMs = clock.monotonicMs();
      else logger.debug(`The server does not answer at its public URL: ${failure}`);
      const outageMs = clock.monotonicMs() - answeredMs;
      if (failure !== null && outageMs > longestOutageMs) {
        return lost.resolve(createUnreachableError(outageMs, failure));
      }
    }
  };

  const watched = watch().catch((error: unknown) => ready.reject(error));
  void hostLost.then((error) => ready.reject(error));
  // Callers that `lost` notifies no longer wait for this promise.
  ready.promise.catch(() => {});
  return {
    ready: ready.promise,
    lost: lost.promise,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await watched;
    },
  };
}

function createUnreachableError(durationMs: number, failure: string): TunnelError {
  return new TunnelError(
    endSentence(
      `The server could not be reached through the tunnel's public URL for ${formatDuration(durationMs)}: ${failure}`,
    ),
    { hint: 'The server itself answers on this machine, so the fault is on the way; run the job again.' },
  );
}
