import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Conversation, RequestHandling, ServerChannel } from '../../mcp/channel.ts';
import type { ChildSource } from './child-pool.ts';
import { createError, type Message, readMessage, type RequestMessage } from './bridge-messages.ts';
import type { Reply } from './reply.ts';
import { describeEnd, openSession, type Session, type SessionExits } from './session.ts';
import type { StatelessServer } from './stateless-server.ts';

/** A channel whose disposal ends its conversations. */
export type StdioChannel = ServerChannel & AsyncDisposable;

/** Reaches servers of the protocol with sessions. `initialize` opens a session with a new server from the source. */
export function openSessionChannel({ source, exits }: { source: ChildSource; exits: SessionExits }): StdioChannel {
  const conversations = new Set<Conversation>();
  const endings = new Set<Promise<void>>();
  const end = (session: Session) => {
    const ending = session.end();
    endings.add(ending);
    void ending.finally(() => endings.delete(ending));
  };
  return {
    open: (receive) => {
      const left = new AbortController();
      let session: Session | undefined;
      let isOver = false;

      const begin = async (first: RequestMessage): Promise<Session> => {
        const child = await source.take({ signal: left.signal, first });
        session = openSession(randomUUID(), child, ({ id }, exit) => {
          isOver = true;
          if (exit !== null) exits.add(id, exit);
        });
        exits.begin(session.id, child);
        session.listen({ isOpen: true, send: ignoreWait(receive), end: () => {} });
        if (left.signal.aborted) end(session);
        return session;
      };
      const conversation: Conversation = {
        get id() {
          return session?.id;
        },
        send: async (sent, handling) => {
          const message = toMessage(sent);
          if (message.kind !== 'request') {
            await session?.notify(message);
            return;
          }
          const { id } = session ?? (await begin(message));
          const reply = openReply(handling);
          if (isOver) reply.end(createError(message.id, describeEnd(exits.find(id))));
          else await session?.request(message, reply);
        },
        close: () => {
          left.abort();
          conversations.delete(conversation);
          if (session !== undefined) end(session);
        },
      };
      conversations.add(conversation);
      return conversation;
    },
    [Symbol.asyncDispose]: async () => {
      for (const conversation of conversations) conversation.close();
      await Promise.all(endings);
    },
  };
}

/** Reaches a server of the stateless protocol. */
export function openStatelessChannel(server: StatelessServer): StdioChannel {
  return {
    open: () => {
      const left = new AbortController();
      return {
        id: undefined,
        send: async (sent, handling) => {
          const message = toMessage(sent);
          if (message.kind === 'notification') return await server.notify(message);
          // In this revision, servers send no requests, so there is nothing to answer.
          if (message.kind === 'response') return;
          const signals = [left.signal, ...(handling.signal === undefined ? [] : [handling.signal])];
          await server.request(message, openReply(handling), AbortSignal.any(signals));
        },
        close: () => left.abort(),
      };
    },
    [Symbol.asyncDispose]: async () => server.end(),
  };
}

function toMessage(sent: JSONRPCMessage): Message {
  const message = readMessage({ ...sent }, JSON.stringify(sent));
  if (message === undefined) throw new TypeError('The client sent something else than a JSON-RPC message.');
  return message;
}

/** A client in this process reads each message at once, so its server never has to wait. */
function ignoreWait(receive: RequestHandling['receive']): Reply['send'] {
  return (message) => {
    receive(message);
    return undefined;
  };
}

function openReply({ receive, onEnd, signal }: RequestHandling): Reply {
  let isOpen = true;
  return {
    get isOpen() {
      return isOpen && signal?.aborted !== true;
    },
    send: ignoreWait(receive),
    end: (message) => {
      if (!isOpen) return;
      isOpen = false;
      if (signal?.aborted === true) return;
      if (message !== undefined) receive(message);
      onEnd();
    },
  };
}
