import { describeError } from '../../base/errors.ts';
import { describeProcessEnd, type OutputLine } from '../../model/process-end.ts';
import type { ProcessExit } from '../process.ts';
import type { Child } from './child.ts';
import {
  createError,
  isMessageId,
  type Message,
  type MessageId,
  readMeta,
  type RequestMessage,
  rpcErrorCodes,
} from './bridge-messages.ts';
import type { Reply } from './reply.ts';

/** The messages that are kept for a client that has not opened its own stream yet; the oldest are dropped first. */
const maxHeldMessages = 100;
const maxHeldLength = 1024 * 1024;

/** The conversation of one client with one server, in the protocol with sessions (MCP 2025-11-25 and before). */
export interface Session {
  readonly id: string;
  /** True if a request is in flight or the client's own stream is open. */
  readonly isBusy: boolean;
  /** True if the client's own stream was open and is closed now. */
  readonly hasLostStream: boolean;
  /** Forwards a request. `reply` gets all messages that belong to it, and ends with the response. */
  request(message: RequestMessage, reply: Reply): Promise<void>;
  /** Forwards a message that expects no answer. */
  notify(message: Message): Promise<void>;
  /** Accepts the client's own stream; false if it already has one. */
  listen(reply: Reply): boolean;
  /** Ends the conversation and stops its server. */
  end(): Promise<void>;
}

/** The processes of sessions: their output, and their ends if they ended by themselves. It remembers only the last ones. */
export interface SessionExits {
  begin(sessionId: string, child: Child): void;
  /** Empty if the session has no process of its own. */
  readOutput(sessionId: string): readonly OutputLine[];
  add(sessionId: string, exit: ProcessExit): void;
  /** Returns null while the server runs, and if the gate ended it. */
  find(sessionId: string): ProcessExit | null;
}

const maxRemembered = 100;

export function recordExits(): SessionExits {
  const exits = new Map<string, ProcessExit>();
  const children = new Map<string, Child>();
  const remember = <T>(known: Map<string, T>, sessionId: string, value: T) => {
    known.set(sessionId, value);
    const [oldest] = known.keys();
    if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest);
  };
  return {
    begin: (sessionId, child) => remember(children, sessionId, child),
    readOutput: (sessionId) => children.get(sessionId)?.readOutput?.() ?? [],
    add: (sessionId, exit) => remember(exits, sessionId, exit),
    find: (sessionId) => exits.get(sessionId) ?? null,
  };
}

interface InFlightRequest {
  id: MessageId;
  method: string;
  progressToken: unknown;
  reply: Reply;
}

/** `onEnd` is called once, with the exit if the server ended by itself. */
export function openSession(
  id: string,
  child: Child,
  onEnd: (session: Session, exit: ProcessExit | null) => void,
): Session {
  // The Map distinguishes the ids 1 and "1", as JSON-RPC does.
  const inFlight = new Map<MessageId, InFlightRequest>();
  const held: Message[] = [];
  let heldLength = 0;
  let own: Reply | undefined;
  let hasEnded = false;

  const findReply = (message: Message): Reply | undefined => {
    const open = [...inFlight.values()].filter((request) => request.reply.isOpen);
    if (message.kind === 'notification' && message.method === 'notifications/progress') {
      const token = message.params['progressToken'];
      const asked = open.find((request) => request.progressToken === token && token !== undefined);
      if (asked !== undefined) return asked.reply;
    }
    // On stdio, a message does not name its request. With one request in flight it belongs to that; else it goes to the client's own
    // stream.
    if (open.length === 1) return open[0]?.reply;
    return own?.isOpen === true ? own : open.at(-1)?.reply;
  };

  const deliver = (message: Message): Promise<void> | undefined => {
    if (message.kind === 'response') {
      const request = inFlight.get(message.id);
      inFlight.delete(message.id);
      request?.reply.end(message);
      // After a refused `initialize` there is no session that the client would end.
      if (request?.method === 'initialize' && message.error !== null) void session.end();
      return undefined;
    }
    const reply = findReply(message);
    if (reply !== undefined) return reply.send(message);
    // A server may send messages once it is initialized, while the client is still opening its stream for them.
    held.push(message);
    heldLength += message.text.length;
    while (held.length > maxHeldMessages || heldLength > maxHeldLength) heldLength -= held.shift()?.text.length ?? 0;
    return undefined;
  };

  const finish = (exit: ProcessExit | null) => {
    if (hasEnded) return;
    hasEnded = true;
    for (const request of inFlight.values()) request.reply.end(createError(request.id, describeEnd(exit)));
    inFlight.clear();
    own?.end();
    onEnd(session, exit);
  };

  const session: Session = {
    id,
    get isBusy() {
      return own?.isOpen === true || [...inFlight.values()].some((request) => request.reply.isOpen);
    },
    get hasLostStream() {
      return own?.isOpen === false;
    },
    request: async (message, reply) => {
      if (inFlight.has(message.id)) {
        const text = `A request with the id ${JSON.stringify(message.id)} is already in flight in this session.`;
        reply.end(createError(message.id, { code: rpcErrorCodes.invalidRequest, message: text }), 400);
        return;
      }
      const { id, method } = message;
      inFlight.set(id, { id, method, progressToken: readMeta(message.params)['progressToken'], reply });
      await child.send(message);
    },
    notify: async (message) => {
      await child.send(message);
      if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return;
      // A cancelled request gets no answer, so its stream ends.
      const { requestId } = message.params;
      if (!isMessageId(requestId)) return;
      inFlight.get(requestId)?.reply.end();
      inFlight.delete(requestId);
    },
    listen: (reply) => {
      if (own?.isOpen === true) return false;
      own = reply;
      for (const message of held.splice(0)) void reply.send(message);
      heldLength = 0;
      return true;
    },
    end: async () => {
      finish(null);
      await child.stop();
    },
  };
  child.setListener({ onMessage: deliver, onExit: finish });
  return session;
}

/**
 * Describes the end of a server to a request that it did not answer. A server can send the same error, so that it is no evidence: the
 * engine asks the witness of the processes.
 */
export function describeEnd(exit: ProcessExit | null): { code: number; message: string; data: object } {
  if (exit === null) {
    return {
      code: rpcErrorCodes.connectionClosed,
      message: 'The session was ended.',
      data: { reason: 'session_ended' },
    };
  }
  const how = describeProcessEnd({ ...exit, exitCode: exit.code });
  return {
    code: rpcErrorCodes.connectionClosed,
    message: `The server under test ${how} before it answered.`,
    data: { reason: 'server_exited', exitCode: exit.code },
  };
}

/** Describes to a client that no server could be started for it. */
export function describeFailedStart(error: unknown): { code: number; message: string; data: object } {
  return {
    code: rpcErrorCodes.connectionClosed,
    message: describeError(error),
    data: { reason: 'server_exited' },
  };
}
