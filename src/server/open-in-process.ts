import { ConfigurationError, describeError, ServerStartError } from '../base/errors.ts';
import { isRecord, tryParseJson } from '../base/json.ts';
import { formatDuration, race } from '../base/time.ts';
import { probeStdio } from '../mcp/probe-stdio.ts';
import { type Message, readMessage } from './bridge/bridge-messages.ts';
import type { Child, ChildListener } from './bridge/child.ts';
import { recordExits } from './bridge/session.ts';
import type { ServerFactory } from './in-process-server.ts';
import { createPeer, reachSessions } from './open-stdio.ts';
import type { ProcessExit } from './process.ts';
import type { ReachedServer, ServerContext, ServerOptions } from './running-server.ts';
import { createRevisionError } from './start-error.ts';
import { waitForReadiness } from './ready.ts';
import { createOutputTail } from './output-tail.ts';
import { witnessSessions } from './witness.ts';

/** The parts of a transport that the SDKs use. */
interface SdkTransport {
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: unknown) => void;
}

/** A server object, as this file calls it. */
interface ConnectableServer {
  connect(transport: SdkTransport): Promise<void>;
  close(): Promise<void>;
}

/** The server has ended the session itself. */
const closed: ProcessExit = { code: null, signal: null, isClosed: true, lastLines: [] };

/**
 * Checks that the factory makes servers that speak MCP. Each session gets an object of its own, which is closed with the session.
 *
 * @throws {ServerStartError} if the factory throws, or its server does not answer within `readyTimeoutMs`
 */
export async function openInProcessServer(
  factory: ServerFactory,
  {
    protocol,
    readyTimeoutMs,
    maxSessions = 32,
    clock,
    logger,
    signal,
  }: Pick<ServerOptions, 'protocol' | 'readyTimeoutMs' | 'maxSessions'> & ServerContext,
): Promise<ReachedServer> {
  const open = new Set<Child>();
  const source = {
    take: async ({ signal: left }: { signal: AbortSignal }) => {
      const connecting = connectInProcess(factory);
      // A session for which the caller no longer waits must not stay open.
      const child = await race(connecting, { signals: [left] }).catch(async (error: unknown) => {
        void connecting.then(
          async (late) => await late.stop(),
          () => {},
        );
        throw error;
      });
      open.add(child);
      const tracked: Child = {
        ...child,
        stop: async () => {
          open.delete(child);
          await child.stop();
        },
      };
      return tracked;
    },
  };
  let child: Child | null = null;
  const probe = async (over: AbortSignal) => {
    child = await source.take({ signal: over });
    return await probeStdio(createPeer(child), protocol.value);
  };
  const handshake = await waitForReadiness(probe, {
    clock,
    signal,
    readyTimeoutMs,
    exited: new Promise(() => {}),
    createTimeoutError: () =>
      new ServerStartError(
        `The server in this process did not answer initialize within ${formatDuration(readyTimeoutMs)}.`,
        { stderrTail: [], hint: 'Return the object before it is connected; the gate calls its `connect`.' },
      ),
  }).finally(async () => await child?.stop());
  if (!handshake.ok) {
    if ('offered' in handshake) throw createRevisionError(handshake.offered, protocol, createOutputTail());
    throw new ServerStartError(
      `The server in this process answered initialize with something else than an MCP handshake: ${handshake.answer.slice(0, 500)}`,
      { stderrTail: [] },
    );
  }
  if (handshake.handshake.protocol === 'modern') throw refuseStateless();
  const { name, version, protocolVersion } = handshake.handshake;
  const exits = recordExits();
  const { channel } = reachSessions(source, {
    exits,
    clock,
    logger,
    idleTimeoutMs: 5 * 60_000,
    maxSessions,
  });
  return {
    endpoint: { channel },
    openUrl: () => {
      const message = 'is a function of this process, which a tunnel or a hosted service cannot reach';
      throw new ConfigurationError([{ input: 'server', code: 'server-in-process', message }]);
    },
    token: null,
    protocol: 'legacy',
    report: {
      transport: 'in-process',
      name,
      version,
      protocolVersion,
      protocolVersions: [],
      isolation: 'session per iteration',
    },
    planSessions: () => {},
    lost: new Promise(() => {}),
    witness: witnessSessions(exits),
    [Symbol.asyncDispose]: async () => {
      await channel[Symbol.asyncDispose]();
      await Promise.all([...open].map(async (child) => await child.stop()));
    },
  };
}

function refuseStateless(): ServerStartError {
  return new ServerStartError('The server in this process speaks only MCP 2026-07-28, which has no sessions.', {
    stderrTail: [],
    hint: 'Let it answer initialize, too, or start it with `serverCommand`.',
  });
}

/** Makes a server and connects it. What both sides send is JSON, as over a pipe. */
async function connectInProcess(factory: ServerFactory): Promise<Child> {
  let listener: ChildListener | undefined;
  let isEnding = false;
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    transport.onclose?.();
    if (!isEnding) listener?.onExit(closed);
  };
  const transport: SdkTransport = {
    start: async () => {},
    send: async (message) => {
      const read = isOver ? undefined : toMessage(message);
      if (read !== undefined) await listener?.onMessage(read);
    },
    close: async () => end(),
  };
  const server = await makeServer(factory);
  try {
    await server.connect(transport);
  } catch (error) {
    throw new ServerStartError(`The server in this process could not be connected: ${describeError(error)}`, {
      stderrTail: [],
      hint: 'Return a new object from each call of `server`.',
      cause: error,
    });
  }
  return {
    setListener: (next) => {
      listener = next;
    },
    send: async ({ text }) => {
      // The server gets a copy, in a turn of its own, so that an error it throws is not one of the client.
      if (!isOver) setImmediate(() => deliver(transport, text));
    },
    stop: async () => {
      isEnding = true;
      // A server that throws while it closes has no session left to harm.
      await server.close().catch(() => {});
      end();
    },
  };
}

async function makeServer(factory: ServerFactory): Promise<ConnectableServer> {
  let made: unknown;
  try {
    made = await factory();
  } catch (error) {
    const message = `The function \`server\` threw: ${describeError(error)}`;
    throw new ServerStartError(message, { stderrTail: [], cause: error });
  }
  if (isServer(made)) return made;
  throw new ServerStartError('The function `server` returned no server of an official MCP SDK.', {
    stderrTail: [],
    hint: 'Return a `Server` or `McpServer` that is not connected yet.',
  });
}

function isServer(value: unknown): value is ConnectableServer {
  if (typeof value !== 'object' || value === null || !('connect' in value) || !('close' in value)) return false;
  return typeof value.connect === 'function' && typeof value.close === 'function';
}

function toMessage(message: unknown): Message | undefined {
  const text = JSON.stringify(message);
  const value = tryParseJson(text);
  return isRecord(value) ? readMessage(value, text) : undefined;
}

function deliver(transport: SdkTransport, text: string): void {
  try {
    transport.onmessage?.(JSON.parse(text));
  } catch (error) {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}
