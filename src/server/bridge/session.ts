import { describeProcessEnd } from '../../model/process-end.ts';
import type { ProcessExit } from '../process.ts';
import type { Child } from './child.ts';
import {
  isMessageId,
  type Message,
  type MessageId,
  readMeta,
  renderError,
  type RequestMessage,
  rpcErrorCodes,
} from './messages.ts';
import type { Reply } from './reply.ts';

/** Messages kept for a client that has not opened its own stream yet; the oldest go first. */
const maxHeldMessages = 100;
const maxHeldLength = 1024 * 1024;

/** One client's conversation with one server, in the protocol that has sessions (MCP 2025-11-25 and before). */
export interface Session {
  readonly id: string;
  /** Whether a request is in flight or the client's own stream is open. */
  readonly isBusy: boolean;
  /** Whether the client had a stream of its own and has it no more. */
  readonly hasLostStream: boolean;
  /** Sends a request on; everything that belongs to it is written to `reply`, which ends with the response. */
  request(message: RequestMessage, reply: Reply): Promise<void>;
  /** Sends on what expects no answer. */
  notify(message: Message): Promise<void>;
  /** Takes the client's own stream; false where it already has one. */
  listen(reply: Reply): boolean;
  keepAlive(): void;
  /** Ends the conversation and stops its server. */
  end(): Promise<void>;
}

interface InFlightRequest {
  id: MessageId;
  method: string;
  progressToken: unknown;
  reply: Reply;
}

/** `onEnd` is called once, with the exit where the server ended by itself. */
export function openSession(
  id: string,
  child: Child,
  onEnd: (session: Session, exit: ProcessExit | null) => void,
): Session {
  // A Map keyed by the id itself distinguishes 1 from "1", as JSON-RPC does.
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
    // stdio does not say which request a message belongs to. With one in flight it is that one; else the client's own stream.
    if (open.length === 1) return open[0]?.reply;
    return own?.isOpen === true ? own : open.at(-1)?.reply;
  };

  const deliver = (message: Message): Promise<void> | undefined => {
    if (message.kind === 'response') {
      const request = inFlight.get(message.id);
      inFlight.delete(message.id);
      request?.reply.end(message.text);
      // A session that was not granted is none, and its client will not end it.
      if (request?.method === 'initialize' && message.error !== null) void session.end();
      return undefined;
    }
    const reply = findReply(message);
    if (reply !== undefined) return reply.send(message.text);
    // A server may speak as soon as it is initialized, while the client is still opening the stream that would carry it.
    held.push(message);
    heldLength += message.text.length;
    while (held.length > maxHeldMessages || heldLength > maxHeldLength) heldLength -= held.shift()?.text.length ?? 0;
    return undefined;
  };

  const finish = (exit: ProcessExit | null) => {
    if (hasEnded) return;
    hasEnded = true;
    for (const request of inFlight.values()) request.reply.end(renderError(request.id, describeEnd(exit)));
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
        reply.end(renderError(message.id, { code: rpcErrorCodes.invalidRequest, message: text }), 400);
        return;
      }
      const { id, method } = message;
      inFlight.set(id, { id, method, progressToken: readMeta(message.params)['progressToken'], reply });
      await child.send(message);
    },
    notify: async (message) => {
      await child.send(message);
      if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return;
      // A cancelled request is not answered, so its stream has nothing more to carry.
      const { requestId } = message.params;
      if (!isMessageId(requestId)) return;
      inFlight.get(requestId)?.reply.end();
      inFlight.delete(requestId);
    },
    listen: (reply) => {
      if (own?.isOpen === true) return false;
      own = reply;
      reply.keepAlive();
      for (const message of held.splice(0)) void reply.send(message.text);
      heldLength = 0;
      return true;
    },
    keepAlive: () => {
      own?.keepAlive();
      for (const request of inFlight.values()) request.reply.keepAlive();
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
 * What is said of a request whose server is gone. A server can send the same, so that it is no evidence: the engine asks the
 * witness of the processes.
 */
export function describeEnd(exit: ProcessExit | null): { code: number; message: string; data: object } {
  if (exit === null) {
    return {
      code: rpcErrorCodes.connectionClosed,
      message: 'The session was ended.',
      data: { reason: 'session_ended' },
    };
  }
  const how = describeProcessEnd({ exitCode: exit.code, signal: exit.signal });
  return {
    code: rpcErrorCodes.connectionClosed,
    message: `The server under test ${how} before it answered.`,
    data: { reason: 'server_exited', exitCode: exit.code },
  };
}
