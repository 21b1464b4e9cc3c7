import { isDeepStrictEqual } from 'node:util';
import { type Message, type RequestMessage, withId } from './bridge-messages.ts';
import type { Child, ChildListener, Opening, ProcessChild } from './child.ts';

/**
 * Keeps an initialized process for the first client. The server's messages wait until that client is initialized; `unread` are those that
 * have arrived already.
 */
export function holdOpen(
  child: ProcessChild,
  { params, answer, unread }: Pick<Opening, 'params' | 'answer'> & { unread: Message[] },
): void {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  child.setListener({
    onMessage: (message) => {
      unread.push(message);
      return released;
    },
    onExit: () => {},
  });
  child.opening = {
    params,
    answer,
    release: (onMessage) => {
      for (const message of unread.splice(0)) void onMessage(message);
      resolve();
    },
  };
}

/** Checks if a client that begins with this request would initialize a server as the gate did. */
export function isSameOpening({ params }: Pick<Opening, 'params'>, first: RequestMessage | undefined): boolean {
  return first?.method === 'initialize' && isDeepStrictEqual(params, first.params);
}

/** Has a client go on with an initialized process: it gets the answer that the gate got, and the server is not initialized again. */
export function continueOpening(child: ProcessChild, { answer, release }: Opening): Child {
  let listener: ChildListener | undefined;
  let awaited: 'initialize' | 'notifications/initialized' | null = 'initialize';
  return {
    setListener: (next) => {
      listener = next;
      child.setListener(next);
    },
    send: async (message) => {
      if (awaited === null || message.kind === 'response' || message.method !== awaited) {
        await child.send(message);
      } else if (message.kind === 'request') {
        awaited = 'notifications/initialized';
        void listener?.onMessage(withId(answer, message.id));
      } else {
        awaited = null;
        release((held) => listener?.onMessage(held));
      }
    },
    stop: () => child.stop(),
    readOutput: () => child.readOutput(),
  };
}
