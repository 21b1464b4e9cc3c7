import type { RequestId, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NetworkError } from '../base/errors.ts';

export interface Traffic {
  /** Rejects when the server ends a response without having answered its request. Never resolves. */
  lost: Promise<never>;
  /** Resolves once every notification under way has been delivered, such as the cancellation of a call. */
  waitForNotifications(): Promise<void>;
}

/**
 * Watches what passes through a connected transport. The SDK waits for ever on an event stream that ends without an
 * answer, and closing it would cut off a cancellation that is still being sent.
 */
export function watchTraffic(transport: StreamableHTTPClientTransport): Traffic {
  const lost = Promise.withResolvers<never>();
  // It is raced by calls only; between two of them nobody listens.
  lost.promise.catch(() => {});
  const unanswered = new Set<RequestId>();
  const notifications = new Set<Promise<void>>();

  const deliver = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
  transport.onmessage = (message) => {
    if (!('method' in message) && message.id !== undefined) unanswered.delete(message.id);
    deliver?.(message);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if ('method' in message && !('id' in message)) {
      const delivery = send(message, options);
      notifications.add(delivery);
      return await delivery.finally(() => notifications.delete(delivery));
    }
    if (!('method' in message)) return await send(message, options);
    unanswered.add(message.id);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (!unanswered.has(message.id)) return;
      lost.reject(new NetworkError(`The server closed its response to ${message.method} without an answer.`));
    };
    return await send(message, { ...options, onRequestStreamEnd });
  };
  return {
    lost: lost.promise,
    waitForNotifications: async () => {
      await Promise.allSettled(notifications);
    },
  };
}
