import { CancelledError, describeError, TunnelError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Clock, formatDuration, race } from '../base/time.ts';
import type { ProxySettings } from '../http/proxy.ts';
import type { ServerAccess } from '../mcp/access.ts';
import { checkRelayUrl, openConnection, type RelayAddress, type RelayConnection } from './connection.ts';
import type { TargetRefusal } from './proxied-request.ts';
import { createReconnectPolicy } from './reconnect.ts';
import { createRequestTable, type RequestTable } from './request-table.ts';
import { openTarget } from './target.ts';

export interface TunnelHostOptions extends RelayAddress {
  /** The subprotocol that the service's profile names. */
  subprotocol: string;
  /** The target of the tunnel: one HTTP URL, which never changes. */
  target: { url: string; access?: ServerAccess | null };
  serverId: string;
  clock: Clock;
  logger: Logger;
  /** Aborts the opening. An open tunnel ends when it is disposed. */
  signal: AbortSignal;
  /** Asks the service for a new grant of the same server, if the relay no longer accepts the token. */
  remint?: () => Promise<RelayAddress>;
  /** Called each time the connection to the relay is lost. */
  onBreak?: (lost: BrokenConnection) => void;
  /** Called each time the target answers a call with 401 or 403. */
  onRefusal?: (refusal: TargetRefusal) => void;
  /** The proxies for the connection to the relay, if there are any. */
  proxy?: ProxySettings | undefined;
  /** The time that disposing waits for calls under way. */
  drainTimeoutMs?: number;
  /** Draws in [0, 1) for the jitter of waits. */
  random?: () => number;
}

/** A connection to the relay that was open and is lost. */
export interface BrokenConnection {
  /** The last time before the loss when a call was under way, on the monotonic clock; null if there was none. */
  lastCallAtMs: number | null;
  /** True if the tunnel is lost for good: the host does not connect again. */
  isFinal: boolean;
}

/** A tunnel that leads to this process. Disposing it lets the calls under way finish, and disconnects from the relay. */
export interface TunnelHost extends AsyncDisposable {
  readonly isConnected: boolean;
  /** The number of requests under way. */
  readonly inFlight: number;
  /** Resolves when the tunnel is lost for good. Never rejects, and does not resolve when the tunnel is disposed. */
  readonly lost: Promise<TunnelError>;
}

/** Without a connection for this long, the tunnel counts as lost. */
const longestGapMs = 60_000;
const defaultDrainTimeoutMs = 2000;

/**
 * Connects to the relay and passes its requests on to the target. Resolves with the relay's hello. After a broken connection it connects
 * again, at once and then with growing pauses.
 *
 * @throws {TunnelError} if the relay refuses, or cannot be reached for a minute
 * @throws {ConfigurationError} if an address cannot be used
 */
export async function openTunnelHost(options: TunnelHostOptions): Promise<TunnelHost> {
  const { clock, logger, signal, subprotocol, onBreak } = options;
  signal.throwIfAborted();
  checkRelayUrl(options.relayWsUrl);
  const target = openTarget(options.target, options.serverId);
  const policy = createReconnectPolicy(options.random ?? Math.random);
  const closing = new AbortController();
  const connected = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<TunnelError>();
  let address: RelayAddress = options;
  let connection: RelayConnection | null = null;
  let calls: RequestTable | null = null;
  let downSinceMs = clock.monotonicMs();

  const serveConnection = async () => {
    connection = openConnection(address, {
      subprotocol,
      clock,
      proxy: options.proxy,
      onHello: ({ limits, window }, link) => {
        const table = createRequestTable({ link, target, clock, limits, window, onRefusal: options.onRefusal });
        calls = table;
        // Without this frame the relay would expect no grants, and its bodies would hold each other up.
        if (window !== null) link.send({ t: 'window', id: 0, n: window });
        connected.resolve();
        logger.debug('The tunnel is connected.');
        return (frame) => table.receive(frame);
      },
    });
    const end = await connection.ended;
    connection = null;
    if (end.helloAtMs === null) return { end, lastCallAtMs: null };
    downSinceMs = clock.monotonicMs();
    const lastCallAtMs = calls?.lastCallAtMs ?? null;
    calls?.cancelAll();
    calls = null;
    return { end, lastCallAtMs };
  };

  /** Connects again until the tunnel is closed or another attempt is pointless. */
  const keepConnected = async (): Promise<TunnelError | null> => {
    for (;;) {
      const { end, lastCallAtMs } = await serveConnection();
      if (closing.signal.aborted) return null;
      const { closeCode, cause } = end;
      const step = policy.plan(end, clock.monotonicMs());
      if (end.helloAtMs !== null) onBreak?.({ lastCallAtMs, isFinal: step.kind === 'stop' });
      if (step.kind === 'stop') return new TunnelError(step.message, { ...step, closeCode, cause });
      const why = cause === undefined ? `close code ${closeCode}` : describeError(cause);
      if (step.kind === 'remint') {
        const refused = await renew();
        if (closing.signal.aborted) return null;
        if (refused !== null) return refused;
        continue;
      }
      const downMs = clock.monotonicMs() - downSinceMs;
      if (downMs + step.delayMs > longestGapMs) {
        const message = `The relay could not be reached for ${formatDuration(downMs)}.`;
        return new TunnelError(message, { closeCode, cause });
      }
      logger.debug(`No connection to the relay (${why}); dialling again in ${formatDuration(step.delayMs)}.`);
      if (step.delayMs > 0) await clock.sleep(step.delayMs, { signal: closing.signal });
    }
  };

  const renew = async (): Promise<TunnelError | null> => {
    const refusal = 'The relay does not take the token of this tunnel any more';
    if (options.remint === undefined) return new TunnelError(`${refusal}.`, { closeCode: 4000 });
    try {
      logger.warning(`${refusal}; asking for another.`);
      // Closing the tunnel must not wait for a new grant.
      address = await race(options.remint(), { signals: [closing.signal] });
      checkRelayUrl(address.relayWsUrl);
      return null;
    } catch (error) {
      return new TunnelError(`${refusal}, and there is no other.`, { closeCode: 4000, cause: error });
    }
  };

  const serve = async () => {
    const error = await keepConnected().catch((cause: unknown) =>
      closing.signal.aborted ? null : new TunnelError('The tunnel broke.', { cause }),
    );
    if (error === null) return;
    connected.reject(error);
    lost.resolve(error);
  };
  const serving = serve();

  const close = async (drainTimeoutMs: number) => {
    if (calls !== null && !closing.signal.aborted && drainTimeoutMs > 0) {
      await race(calls.drain(), { timeout: { clock, afterMs: drainTimeoutMs, onTimeout: () => {} } });
    }
    closing.abort(new CancelledError('The tunnel was closed.'));
    calls?.cancelAll();
    connection?.close();
    await serving;
    await target[Symbol.asyncDispose]();
  };

  try {
    await race(connected.promise, { signals: [signal] });
  } catch (error) {
    await close(0);
    throw error;
  }
  return {
    get isConnected() {
      return calls !== null;
    },
    get inFlight() {
      return calls?.inFlight ?? 0;
    },
    lost: lost.promise,
    [Symbol.asyncDispose]: () => close(options.drainTimeoutMs ?? defaultDrainTimeoutMs),
  };
}
