import type { JsonObject } from '../../base/json.ts';
import type { Logger } from '../../base/logger.ts';
import { type Clock, race } from '../../base/time.ts';
import type { ProcessExit } from '../process.ts';
import type { ChildPool, ChildSource } from './child-pool.ts';
import type { Child, ChildListener, ProcessChild } from './child.ts';
import {
  createError,
  createRequest,
  type Message,
  type RequestMessage,
  type ResponseMessage,
  rpcErrorCodes,
  withId,
} from './bridge-messages.ts';
import { isSameOpening } from './opening.ts';
import { createRequestIds, type RequestIds } from './request-ids.ts';

/** The time that the process has, after a cancelled call, to show that it still answers. */
const proofOfLifeMs = 2000;

/** The only process of a run, with its answer to the first `initialize`. */
interface SharedProcess {
  child: ProcessChild;
  /** All turns share it, so that an answer to an earlier turn matches no request. */
  requestIds: RequestIds<RequestMessage>;
  initializeResult: ResponseMessage | null;
  /** The capabilities, as JSON, of the client whose message initialized it. */
  announced: string;
  isInitialized: boolean;
}

/**
 * Lets sessions use one process in turns: `take` waits until the previous turn has ended. A process can be initialized only once, so
 * later sessions get a copy of its first answer. A client with other capabilities gets a fresh process, since a server keeps the first
 * capabilities that it gets. So does a first client that does not begin exactly as the gate did, if the gate has initialized the process.
 * Request ids are renumbered, because every client starts at 0 and a late answer must not reach the next client. A process that a call has
 * blocked is replaced, since every later turn would fail.
 */
export function shareChild(pool: ChildPool, options: { clock: Clock; logger: Logger }): ChildSource {
  // Starts the process now, so that it is ready for the first session.
  let shared = takeShared(pool);
  let lastTurn: Promise<void> = Promise.resolve();
  shared.catch(() => {});

  const ensureShared = async (): Promise<SharedProcess> => {
    const { child } = await shared;
    // A process that has ended serves no request, even while its output is still being read.
    if (child.hasEnded || child.exit !== null || child.isEnding) shared = takeShared(pool);
    return shared;
  };
  return {
    take: async ({ signal }) => {
      const before = lastTurn;
      const { promise, resolve: endTurn } = Promise.withResolvers<void>();
      lastTurn = before.then(() => promise);
      try {
        await race(before, { signals: [signal] });
        const replace = () => (shared = takeShared(pool));
        return openTurn(await ensureShared(), { ...options, endTurn, replace });
      } catch (error) {
        endTurn();
        throw error;
      }
    },
  };
}

async function takeShared(pool: ChildPool): Promise<SharedProcess> {
  const child = await pool.take({ accepts: () => true });
  const { opening } = child;
  return {
    child,
    requestIds: createRequestIds(),
    initializeResult: opening?.answer ?? null,
    announced: opening === null ? '' : printCapabilities(opening.params),
    isInitialized: false,
  };
}

const printCapabilities = (params: JsonObject) => JSON.stringify(params['capabilities'] ?? {});

function openTurn(
  first: SharedProcess,
  {
    clock,
    logger,
    endTurn,
    replace,
  }: { clock: Clock; logger: Logger; endTurn: () => void; replace: () => Promise<SharedProcess> },
): Child {
  let shared = first;
  let listener: ChildListener | undefined;
  let isOver = false;
  let hasGivenUp = false;

  const initialize = async (request: RequestMessage) => {
    const announced = printCapabilities(request.params);
    const { opening } = shared.child;
    const isOther =
      opening === null || shared.isInitialized ? shared.announced !== announced : !isSameOpening(opening, request);
    if (shared.initializeResult !== null && isOther) {
      shared.child.setListener({ onMessage: () => undefined, onExit: () => {} });
      await shared.child.stop();
      shared = await replace();
      listen();
    }
    const known = shared.initializeResult;
    if (known === null) {
      shared.announced = announced;
      await shared.child.send(shared.requestIds.assign(request, request));
    } else {
      void listener?.onMessage(withId(known, request.id));
    }
  };
  const onMessage = (message: Message): Promise<void> | undefined => {
    if (message.kind !== 'response') {
      const located = message.kind === 'notification' ? shared.requestIds.locate(message)?.message : undefined;
      return listener?.onMessage(located ?? message);
    }
    const answered = shared.requestIds.resolve(message);
    if (answered === undefined) return undefined;
    if (answered.owner.method === 'initialize' && message.error === null) shared.initializeResult = message;
    return listener?.onMessage(answered.message);
  };
  const listen = () =>
    shared.child.setListener({
      onMessage,
      onExit: (exit: ProcessExit) => {
        isOver = true;
        endTurn();
        listener?.onExit(exit);
      },
    });
  listen();

  return {
    setListener: (next) => {
      listener = next;
    },
    send: async (message) => {
      const { child, requestIds } = shared;
      if (message.kind === 'request') {
        await (message.method === 'initialize' ? initialize(message) : child.send(requestIds.assign(message, message)));
      } else if (message.kind === 'notification' && message.method === 'notifications/initialized') {
        const { isInitialized } = shared;
        shared.isInitialized = true;
        if (isInitialized) return;
        if (child.opening === null) await child.send(message);
        else child.opening.release(onMessage);
      } else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
        const cancelled = requestIds.cancel((request) => request.id === message.params['requestId'], message.params);
        hasGivenUp ||= cancelled.length > 0;
        for (const notification of cancelled) await child.send(notification);
      } else {
        await child.send(message);
      }
    },
    stop: async () => {
      if (isOver) return;
      isOver = true;
      const { child, requestIds } = shared;
      const cancelled = requestIds.cancel(() => true, { reason: 'The session was ended.' });
      for (const notification of cancelled) void child.send(notification);
      child.setListener({ onMessage: (message) => refuseBetweenTurns(child, message), onExit: () => {} });
      if (shared.initializeResult === null) {
        // If it was interrupted during its initialization, it can neither continue nor start again.
        await child.stop();
      } else if ((hasGivenUp || cancelled.length > 0) && !(await provesAlive(shared, clock))) {
        logger.warning(
          'The server under test answers nothing since a call was given up; the iterations to come get a fresh process.',
        );
        await child.kill();
      }
      endTurn();
    },
  };
}

/** Checks if the process answers a ping; an error counts as an answer, too. */
async function provesAlive({ child, requestIds }: SharedProcess, clock: Clock): Promise<boolean> {
  const request = createRequest('ping', 'ping', {});
  const ping = requestIds.assign(request, request);
  const { promise: answered, resolve } = Promise.withResolvers<boolean>();
  child.setListener({
    onMessage: (message) => {
      if (message.kind === 'response' && message.id === ping.id) resolve(true);
      return refuseBetweenTurns(child, message);
    },
    onExit: () => {},
  });
  void child.send(ping);
  // If the process ends, the next turn replaces it anyway.
  const sign = Promise.race([answered, child.exited.then(() => true)]);
  const isAlive = await race(sign, { timeout: { clock, afterMs: proofOfLifeMs, onTimeout: () => false } });
  requestIds.clear();
  return isAlive;
}

/** Answers a request that the server sends while no client is connected, so that it does not wait forever. */
function refuseBetweenTurns(child: Child, message: Message): undefined {
  if (message.kind !== 'request') return undefined;
  const error = { code: rpcErrorCodes.connectionClosed, message: 'No client is connected.' };
  void child.send(createError(message.id, error));
  return undefined;
}
