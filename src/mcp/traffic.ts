import { type RequestId, SSEClientTransport, SseError, type Transport } from '@modelcontextprotocol/client';
import { NetworkError, ProtocolError } from '../base/errors.ts';
import { clipText } from '../base/text.ts';
import { describeUnreadable, isUnreadableMessage } from './faults.ts';

/** The longest quotation of an id that a server wrote. */
const longestId = 200;

export interface Traffic {
  /**
   * Rejects if the server ends a response without an answer to its request: with a ProtocolError if the response held something else, and
   * a NetworkError if it was empty. Over HTTP+SSE, where one stream carries all answers, it rejects once that stream ends, or holds an
   * unusable message while a request is open. Never resolves.
   */
  lost: Promise<never>;
  /** Resolves once every notification under way has been delivered, such as the cancellation of a call. */
  waitForNotifications(): Promise<void>;
}

/**
 * Watches the messages of a connected transport. The SDK waits forever on an event stream that ends without an answer, and closing the
 * stream would cut off a cancellation that is still being sent.
 */
export function watchTraffic(transport: Transport): Traffic {
  const lost = Promise.withResolvers<never>();
  // Only calls race against it; without this, a rejection between two calls would be unhandled.
  lost.promise.catch(() => {});
  const sent = new Set<RequestId>();
  const unanswered = new Set<RequestId>();
  /** The unusable message that came instead of an answer since the last request, as half a sentence. */
  let unusable: string | null = null;
  const notifications = new Set<Promise<void>>();

  const deliver = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
  transport.onmessage = (message) => {
    if (!('method' in message) && message.id !== undefined) {
      // The SDK numbers its requests, and accepts "1" for 1; only subscriptions have names as ids.
      const id = sent.has(message.id) ? message.id : Number(message.id);
      unanswered.delete(id);
      if (!sent.has(id))
        unusable ??= `an answer with the id ${clipText(JSON.stringify(message.id), longestId)}, which no request has.`;
    }
    deliver?.(message);
  };
  const reportError = transport.onerror;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
  transport.onerror = (error) => {
    if (isUnreadableMessage(error)) {
      unusable ??= describeUnreadable(error);
      if (transport instanceof SSEClientTransport && unanswered.size > 0) {
        lost.reject(new ProtocolError(`The event stream of the server holds ${unusable}`));
      }
    }
    if (error instanceof SseError) {
      lost.reject(new NetworkError('The server closed the event stream that brings its answers.'));
      // Otherwise the SDK would open another stream, which would be another session.
      void transport.close();
    }
    reportError?.(error);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if ('method' in message && !('id' in message)) {
      const delivery = send(message, options);
      notifications.add(delivery);
      return await delivery.finally(() => notifications.delete(delivery));
    }
    if (!('method' in message)) return await send(message, options);
    sent.add(message.id);
    // A subscription ends without an answer, and its end affects only its own updates.
    if (message.method === 'subscriptions/listen') return await send(message, options);
    unanswered.add(message.id);
    unusable = null;
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (!unanswered.has(message.id)) return;
      lost.reject(
        unusable === null
          ? new NetworkError(`The server closed its response to ${message.method} without an answer.`)
          : new ProtocolError(`The response to ${message.method} holds ${unusable}`),
      );
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
