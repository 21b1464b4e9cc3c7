import { CancelledError } from '../../base/errors.ts';
import type { ProcessExit } from '../process.ts';
import type { ChildPool, ChildSource } from './child-pool.ts';
import type { Child, ChildListener, ProcessChild } from './child.ts';
import { createNotification, readdressResponse, renderError, rpcErrorCodes } from './messages.ts';
import type { Message, RequestMessage, ResponseMessage } from './messages.ts';
import { createRenumbering } from './renumbering.ts';
import type { Renumbering } from './renumbering.ts';

/** The one process of a run, and what it said when it was first initialized. */
interface SharedProcess {
  child: ProcessChild;
  /** One for all turns, so that an answer to an earlier one matches nothing. */
  renumbering: Renumbering<RequestMessage>;
  initializeResult: ResponseMessage | null;
  isInitialized: boolean;
}

/**
 * Lets sessions use one process in turns: `take` waits until the turn before has ended. A process can be initialized only
 * once, so its first answer is repeated to later sessions; request ids are renumbered, because every client starts at 0 and
 * an answer that comes late must not reach the next one.
 */
export function shareChild(pool: ChildPool): ChildSource {
  // Started at once, so that the first session finds it up.
  let shared = takeShared(pool);
  let lastTurn: Promise<void> = Promise.resolve();
  shared.catch(() => {});

  const ensureShared = async (): Promise<SharedProcess> => {
    const { child } = await shared;
    if (child.exit !== null || child.isEnding) shared = takeShared(pool);
    return shared;
  };
  return {
    take: async ({ signal }) => {
      const before = lastTurn;
      const { promise, resolve: endTurn } = Promise.withResolvers<void>();
      lastTurn = before.then(() => promise);
      try {
        await Promise.race([before, rejectOnAbort(signal)]);
        return openTurn(await ensureShared(), endTurn);
      } catch (error) {
        endTurn();
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

async function takeShared(pool: ChildPool): Promise<SharedProcess> {
  const child = await pool.take();
  return { child, renumbering: createRenumbering(), initializeResult: null, isInitialized: false };
}

function openTurn(shared: SharedProcess, endTurn: () => void): Child {
  const { child, renumbering } = shared;
  let listener: ChildListener | undefined;
  let isOver = false;

  const initialize = async (request: RequestMessage) => {
    const known = shared.initializeResult;
    if (known === null) {
      await child.send(renumbering.assign(request, request));
    } else {
      listener?.onMessage(readdressResponse(known, request.id));
    }
  };
  const hear = (message: Message) => {
    if (message.kind === 'response') {
      const answered = renumbering.resolve(message);
      if (answered === undefined) return;
      if (answered.owner.method === 'initialize' && message.error === null) shared.initializeResult = message;
      listener?.onMessage(answered.message);
    } else {
      listener?.onMessage(
        message.kind === 'notification' ? (renumbering.locate(message)?.message ?? message) : message,
      );
    }
  };
  child.setListener({
    onMessage: hear,
    onExit: (exit: ProcessExit) => {
      isOver = true;
      endTurn();
      listener?.onExit(exit);
    },
  });

  return {
    setListener: (next) => {
      listener = next;
    },
    send: async (message) => {
      if (message.kind === 'request') {
        await (message.method === 'initialize'
          ? initialize(message)
          : child.send(renumbering.assign(message, message)));
      } else if (message.kind === 'notification' && message.method === 'notifications/initialized') {
        if (!shared.isInitialized) await child.send(message);
        shared.isInitialized = true;
      } else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
        const cancelled = renumbering.cancel((request) => request.id === message.params['requestId'], message.params);
        for (const notification of cancelled) await child.send(notification);
      } else {
        await child.send(message);
      }
    },
    stop: async () => {
      if (isOver) return;
      isOver = true;
      for (const notification of renumbering.cancel(() => true, { reason: 'The session was ended.' })) {
        void child.send(notification);
      }
      child.setListener({ onMessage: (message) => refuseBetweenTurns(child, message), onExit: () => {} });
      // One that was interrupted while it was initialized can be initialized neither again nor further.
      if (shared.initializeResult === null) await child.stop();
      endTurn();
    },
  };
}

/** A server that asks for something while nobody is there gets an answer, so that it does not wait for one. */
function refuseBetweenTurns(child: Child, message: Message): void {
  if (message.kind !== 'request') return;
  const error = { code: rpcErrorCodes.connectionClosed, message: 'No client is connected.' };
  void child.send({ ...createNotification('', {}), text: renderError(message.id, error) });
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new CancelledError('The client left while it waited for its turn.'));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
