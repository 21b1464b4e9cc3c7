import { randomUUID } from 'node:crypto';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Clock } from '../../base/time.ts';
import { legacyVersions } from '../../mcp/protocol.ts';
import type { ProcessExit } from '../process.ts';
import type { ChildSource } from './child-pool.ts';
import { type Exchange, type ProtocolAdapter, readHeader, refuse } from './exchange.ts';
import { createError, type RequestMessage, rpcErrorCodes } from './bridge-messages.ts';
import { createReplies, type ReplyFormat } from './reply.ts';
import { describeEnd, describeFailedStart, openSession, type Session, type SessionExits } from './session.ts';

/** A client whose own stream broke reopens it within seconds; otherwise it has left without ending the session. */
const abandonedTimeoutMs = 30_000;

interface SessionEntry {
  session: Session;
  lastUsedMs: number;
}

/**
 * Serves the protocol with sessions (MCP 2025-11-25, Streamable HTTP). `initialize` opens a session with a new server from the source.
 * DELETE or `idleTimeoutMs` without use ends it. A client that only disconnects cancels nothing.
 */
export function serveSessions(options: {
  source: ChildSource;
  exits: SessionExits;
  clock: Clock;
  logger: Logger;
  idleTimeoutMs: number;
  /** Every session may need a process. Above this limit, unused sessions are ended. */
  maxSessions: number;
}): ProtocolAdapter {
  const { source, exits, clock, logger, maxSessions } = options;
  const entries = new Map<string, SessionEntry>();
  const endings = new Set<Promise<void>>();
  const replies = createReplies();
  /** The clients that wait for a server. */
  let waiting = 0;

  const endSession = (session: Session) => {
    const ending = session.end();
    endings.add(ending);
    void ending.finally(() => endings.delete(ending));
  };
  /** Makes room for one more session, if necessary by ending the session that is unused for the longest time. False if all are in use. */
  const makeRoom = (): boolean => {
    if (entries.size + waiting < maxSessions) return true;
    const [oldest] = [...entries.values()]
      .filter((entry) => !entry.session.isBusy)
      .sort((a, b) => a.lastUsedMs - b.lastUsedMs);
    if (oldest !== undefined) endSession(oldest.session);
    return oldest !== undefined;
  };
  const forget = (session: Session, exit: ProcessExit | null) => {
    entries.delete(session.id);
    if (exit !== null) exits.add(session.id, exit);
  };

  /** Finds the session that the request names; if there is none, refuses the request and returns undefined. */
  const findSession = (exchange: Exchange): Session | undefined => {
    const version = readHeader(exchange.request, 'mcp-protocol-version');
    if (version !== undefined && !legacyVersions.includes(version)) {
      const known = legacyVersions.join(', ');
      refuse(exchange, 400, {
        message: `Unsupported MCP-Protocol-Version ${JSON.stringify(version)}; known: ${known}.`,
      });
      return undefined;
    }
    if (exchange.request.headers['mcp-session-id'] === undefined) {
      refuse(exchange, 400, { message: 'The Mcp-Session-Id header is missing; send initialize first.' });
      return undefined;
    }
    const id = readHeader(exchange.request, 'mcp-session-id') ?? '';
    const entry = entries.get(id);
    if (entry === undefined) {
      const exit = exits.find(id);
      const known = exit === null ? { message: 'Session not found; initialize again.' } : describeEnd(exit);
      refuse(exchange, 404, { ...known, code: rpcErrorCodes.sessionNotFound });
      return undefined;
    }
    entry.lastUsedMs = clock.monotonicMs();
    return entry.session;
  };

  const initialize = async (message: RequestMessage, exchange: Exchange, format: ReplyFormat) => {
    if (!makeRoom()) {
      refuse(exchange, 503, { id: message.id, message: `${maxSessions} sessions are in use; end one first.` });
      return;
    }
    const id = randomUUID();
    const reply = replies.open(exchange.response, { format, headers: { 'mcp-session-id': id } });
    waiting += 1;
    try {
      const child = await source.take({ signal: exchange.signal });
      const session = openSession(id, child, forget);
      entries.set(id, { session, lastUsedMs: clock.monotonicMs() });
      if (exchange.signal.aborted) endSession(session);
      else await session.request(message, reply);
    } catch (error) {
      logger.debug(`No server for a new session: ${describeError(error)}`);
      reply.end(createError(message.id, describeFailedStart(error)), 503);
    } finally {
      waiting -= 1;
    }
  };

  return {
    post: async (message, exchange) => {
      const format = chooseFormat(exchange);
      if (format === undefined) return;
      const isInitialize = message.kind === 'request' && message.method === 'initialize';
      if (isInitialize && exchange.request.headers['mcp-session-id'] === undefined) {
        await initialize(message, exchange, format);
        return;
      }
      const session = findSession(exchange);
      if (session === undefined) return;
      if (isInitialize) {
        const text = 'This session is initialized already.';
        refuse(exchange, 400, { id: message.id, code: rpcErrorCodes.invalidRequest, message: text });
      } else if (message.kind === 'request') {
        await session.request(
          message,
          replies.open(exchange.response, { format, headers: { 'mcp-session-id': session.id } }),
        );
      } else {
        await session.notify(message);
        exchange.response.writeHead(202).end();
      }
    },
    get: async (exchange) => {
      if (!accepts(exchange, 'text/event-stream')) {
        refuse(exchange, 406, { message: 'The client must accept text/event-stream.' });
        return;
      }
      const session = findSession(exchange);
      if (session === undefined) return;
      const headers = { 'mcp-session-id': session.id };
      const reply = replies.open(exchange.response, { format: 'sse', headers });
      // Sends the headers, which some clients wait for.
      if (session.listen(reply)) reply.keepAlive();
      else refuse(exchange, 409, { message: 'This session has a stream of its own already.' });
    },
    delete: async (exchange) => {
      const session = findSession(exchange);
      if (session === undefined) return;
      endSession(session);
      exchange.response.writeHead(200).end();
    },
    tick: () => {
      const nowMs = clock.monotonicMs();
      replies.keepAlive();
      for (const entry of entries.values()) {
        if (entry.session.isBusy) entry.lastUsedMs = nowMs;
        const timeoutMs = entry.session.hasLostStream ? abandonedTimeoutMs : options.idleTimeoutMs;
        if (nowMs - entry.lastUsedMs >= timeoutMs) endSession(entry.session);
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const entry of entries.values()) endSession(entry.session);
      await Promise.all(endings);
    },
  };
}

/**
 * Chooses an event stream if the client accepts one, as MCP's own servers do. If it accepts no format, refuses the request and returns
 * undefined.
 */
function chooseFormat(exchange: Exchange): ReplyFormat | undefined {
  if (accepts(exchange, 'text/event-stream')) return 'sse';
  if (accepts(exchange, 'application/json')) return 'json';
  refuse(exchange, 406, { message: 'The client must accept application/json and text/event-stream.' });
  return undefined;
}

function accepts(exchange: Exchange, type: string): boolean {
  const accept = exchange.request.headers.accept ?? '';
  return accept.includes(type) || accept.includes('*/*');
}
