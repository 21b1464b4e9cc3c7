import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client';
import type { ProcessExit } from '../process.ts';
import type { ChildPool } from './child-pool.ts';
import type { ProcessChild } from './child.ts';
import {
  createError,
  type Message,
  type NotificationMessage,
  readMeta,
  type RequestMessage,
  rpcErrorCodes,
} from './bridge-messages.ts';
import type { Reply } from './reply.ts';
import { createRequestIds, type RequestIds } from './request-ids.ts';
import { describeEnd } from './session.ts';

/** The statuses for errors of the protocol itself; errors of a tool are results (MCP 2026-07-28). */
const statusByErrorCode = new Map<number, number>([
  [rpcErrorCodes.methodNotFound, 404],
  [rpcErrorCodes.headerMismatch, 400],
  [rpcErrorCodes.missingClientCapability, 400],
  [rpcErrorCodes.unsupportedProtocolVersion, 400],
]);

/**
 * The most messages that a server may send to a call before the call is cancelled. Above this, the server probably continues: its
 * messages would reach the next request, which stdio cannot distinguish.
 */
const maxMessagesBeforeCancel = 1000;

/** A request that waits for its answer. */
interface Waiting {
  request: RequestMessage;
  reply: Reply;
  /** The number of messages that the server is known to have sent for it. */
  messages: number;
}

/** The process that serves, with the requests that it has not answered. */
interface Serving {
  child: ProcessChild;
  requestIds: RequestIds<Waiting>;
}

/** A server of the stateless protocol, for any number of clients. */
export interface StatelessServer {
  /**
   * Forwards a request. `reply` gets all messages that belong to it, and ends with the response. Once the signal aborts, the server gets
   * `notifications/cancelled`, the form of cancelling on stdio.
   *
   * @throws {ServerStartError} if no process can be started any more
   */
  request(request: RequestMessage, reply: Reply, signal: AbortSignal): Promise<void>;
  /**
   * Forwards a message that expects no answer. No such message cancels a request: its id could be the id of another client's request.
   *
   * @throws {ServerStartError} if no process can be started any more
   */
  notify(message: NotificationMessage): Promise<void>;
  /** Ends all requests in flight. */
  end(): void;
}

/**
 * Serves the stateless protocol (MCP 2026-07-28). The requests of all clients go to one process. After a process has ended, the next
 * request starts another.
 */
export function createStatelessServer(pool: ChildPool): StatelessServer {
  /** Has more than one entry only while the output of an ended process is still being read. */
  const servings = new Set<Serving>();
  let current: Promise<Serving> | undefined;

  /** Disconnects a client that does not read, instead of waiting for it: the others use the same process. */
  const onMessage = (message: Message, { requestIds }: Serving): undefined => {
    if (message.kind === 'response') {
      const answered = requestIds.resolve(message);
      const status = statusByErrorCode.get(message.error?.code ?? 0) ?? 200;
      answered?.owner.reply.end(answered.message, status);
    } else if (message.kind === 'notification') {
      const located = requestIds.locate(message) ?? attribute(message, requestIds.listOwners());
      if (located === undefined) return undefined;
      located.owner.messages += 1;
      void located.owner.reply.send(located.message);
    } else {
      // In this revision, servers send no requests. A client does not answer one, but counts it towards the limits of the server's
      // traffic.
      const owners = requestIds.listOwners();
      for (const owner of owners) owner.messages += 1;
      void findOnlyCall(owners)?.reply.send(message);
    }
    return undefined;
  };
  const finish = (serving: Serving, exit: ProcessExit | null) => {
    servings.delete(serving);
    for (const { request, reply } of serving.requestIds.listOwners()) {
      reply.end(createError(request.id, describeEnd(exit)));
    }
    serving.requestIds.clear();
  };
  const start = async (): Promise<Serving> => {
    const serving: Serving = { child: await pool.take(), requestIds: createRequestIds() };
    servings.add(serving);
    serving.child.setListener({
      onMessage: (message) => onMessage(message, serving),
      onExit: (exit) => finish(serving, exit),
    });
    return serving;
  };
  const ensureServing = async (): Promise<Serving> => {
    for (;;) {
      const asked = (current ??= start());
      const serving = await asked.catch(() => undefined);
      if (serving !== undefined && !serving.child.hasEnded && !serving.child.isEnding) return serving;
      // Requests that wait at the same time share the next process.
      if (current === asked) current = undefined;
      if (serving === undefined) return await asked;
      if (serving.child.isEnding) finish(serving, null);
    }
  };

  // Starts the process now, so that it is ready for the first request, which also reports a failed start.
  ensureServing().catch(() => {});

  return {
    request: async (request, reply, signal) => {
      const { child, requestIds } = await ensureServing();
      const waiting: Waiting = { request, reply, messages: 0 };
      if (signal.aborted) return;
      signal.addEventListener('abort', () => {
        const cancelled = requestIds.cancel((owner) => owner === waiting, {});
        for (const notification of cancelled) void child.send(notification);
        if (cancelled.length === 0 || waiting.messages <= maxMessagesBeforeCancel) return;
        child.expel(`A request was given up after the server had sent ${waiting.messages} messages to it`);
      });
      await child.send(requestIds.assign(request, waiting));
    },
    notify: async (message) => {
      if (message.method !== 'notifications/cancelled') await (await ensureServing()).child.send(message);
    },
    end: () => {
      for (const serving of servings) finish(serving, null);
    },
  };
}

/**
 * Finds the request of a log message, which names none on stdio: the only request that can have caused it. Undefined if there are
 * several.
 */
function attribute(message: NotificationMessage, owners: readonly Waiting[]) {
  const asking = owners.filter((owner) => readMeta(owner.request.params)[LOG_LEVEL_META_KEY] !== undefined);
  const [owner] = owners.length === 1 ? owners : asking;
  return owner === undefined || (owners.length > 1 && asking.length > 1) ? undefined : { owner, message };
}

/** Finds the only request in flight that is no subscription, or the only subscription; undefined if there are several. */
function findOnlyCall(owners: readonly Waiting[]): Waiting | undefined {
  const calls = owners.filter(({ request }) => request.method !== 'subscriptions/listen');
  const candidates = calls.length === 0 ? owners : calls;
  return candidates.length === 1 ? candidates[0] : undefined;
}
