import { Agent } from 'node:https';
import { WebSocket } from 'ws';
import { ConfigurationError } from '../base/errors.ts';
import type { Secret } from '../base/redaction.ts';
import type { Clock } from '../base/time.ts';
import { chooseProxy, type ProxySettings } from '../http/proxy.ts';
import { isProtected } from '../http/url.ts';
import { type FrameSocket, keepAlive, openFrameSocket, type ReceivedFrame } from './frame-socket.ts';
import type { TextFrame } from './frames.ts';

/** The address at which the relay accepts hosts, with the token for it. */
export interface RelayAddress {
  relayWsUrl: string;
  connectToken: Secret;
}

export type HelloFrame = Extract<TextFrame, { t: 'hello' }>;

/** The reason why a connection ended. */
export interface ConnectionEnd {
  /** The close code of the WebSocket; 1006 if it broke or was never opened. */
  closeCode: number;
  /** The status with which the relay refused the handshake; null if it did not. */
  httpStatus: number | null;
  /** The subprotocols of both sides, if the relay answered with another one than this side asked for. */
  mismatch: { asked: string; answered: string | null } | null;
  /** The time of the hello on the monotonic clock; null if none came. */
  helloAtMs: number | null;
  cause: unknown;
}

export interface RelayConnection {
  readonly ended: Promise<ConnectionEnd>;
  /** Sends a close frame, and waits only briefly for the answer. */
  close(): void;
}

const handshakeTimeoutMs = 10_000;
const helloTimeoutMs = 15_000;
const pingIntervalMs = 2500;
const leaveTimeoutMs = 300;
/** No relay sends larger frames; a message is held in memory as a whole. */
const maxFrameBytes = 16 * 1024 * 1024;

/**
 * Connects to the relay. `onHello` is called with the relay's hello and returns the receiver of all later frames. Never throws; every
 * failure ends the connection.
 */
export function openConnection(
  { relayWsUrl, connectToken }: RelayAddress,
  options: {
    subprotocol: string;
    clock: Clock;
    proxy: ProxySettings | undefined;
    onHello: (hello: HelloFrame, link: FrameSocket) => (frame: ReceivedFrame) => void;
  },
): RelayConnection {
  const { subprotocol, clock, proxy, onHello } = options;
  const over = new AbortController();
  const { promise: ended, resolve } = Promise.withResolvers<ConnectionEnd>();
  const end: ConnectionEnd = { closeCode: 1006, httpStatus: null, mismatch: null, helloAtMs: null, cause: undefined };
  const socket = new WebSocket(relayWsUrl, subprotocol, {
    headers: { authorization: `Bearer ${connectToken.reveal()}` },
    handshakeTimeout: handshakeTimeoutMs,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    agent: createRelayAgent(relayWsUrl, proxy),
    // Checks certificates even if the environment turns that off for Node.
    rejectUnauthorized: true,
  });

  let receive: ((frame: ReceivedFrame) => void) | null = null;
  socket.on('upgrade', ({ socket: stream, headers }) => {
    const answered = headers['sec-websocket-protocol'] ?? null;
    if (answered !== subprotocol) {
      // The client library ends the connection for the same reason, but its error names no protocol.
      end.mismatch = { asked: subprotocol, answered };
      return;
    }
    const link = openFrameSocket({ socket, stream }, (frame) => {
      if (receive !== null) return receive(frame);
      if (frame.t !== 'hello' || frame.proto !== 1) return;
      end.helloAtMs = clock.monotonicMs();
      receive = onHello(frame, link);
      void keepAlive(socket, { clock, intervalMs: pingIntervalMs, isPaused: () => link.isPaused, signal: over.signal });
    });
  });
  socket.on('unexpected-response', (request, response) => {
    end.httpStatus = response.statusCode ?? null;
    end.cause = new Error(`The relay answered the handshake with status ${response.statusCode ?? 0}.`);
    request.destroy();
    socket.terminate();
  });
  socket.on('error', (error) => {
    end.cause ??= error;
  });
  socket.on('close', (closeCode) => {
    over.abort();
    resolve({ ...end, closeCode });
  });

  const limitWait = async () => {
    await clock.sleep(helloTimeoutMs, { signal: over.signal });
    if (receive !== null) return;
    end.cause = new Error('The relay sent no hello within 15 s.');
    socket.terminate();
  };
  limitWait().catch(() => {});

  return {
    ended,
    close: () => {
      socket.close(1000);
      const leave = async () => {
        await clock.sleep(leaveTimeoutMs, { signal: over.signal });
        socket.terminate();
      };
      leave().catch(() => {});
    },
  };
}

/** @throws {ConfigurationError} unless the address is wss, or ws on this machine; the error never quotes it */
export function checkRelayUrl(text: string): void {
  const url = URL.parse(text);
  if (url !== null && url.hash === '' && url.username === '' && url.password === '') {
    if (/^wss?:$/.test(url.protocol) && isProtected(url)) return;
  }
  const message = 'the service granted a tunnel whose relay address is not wss:, which alone protects its token';
  throw new ConfigurationError([{ code: 'invalid-relay-url', message }]);
}

/**
 * Makes the agent for a connection to a relay through the proxy that the settings name for it. The proxy gets a CONNECT, so that TLS runs
 * between this process and the relay. Undefined if there is no proxy.
 */
export function createRelayAgent(relayWsUrl: string, proxy: ProxySettings | undefined): Agent | undefined {
  const relay = new URL(relayWsUrl);
  const chosen = relay.protocol === 'wss:' ? chooseProxy(relay, proxy) : null;
  if (chosen === null) return undefined;
  return new Agent({ proxyEnv: { HTTPS_PROXY: chosen.href, NO_PROXY: proxy?.noProxy ?? '' } });
}
