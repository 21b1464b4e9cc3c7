import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/client';

import { isRecord, isTooDeep } from '../../base/json.ts';
import type { JsonObject } from '../../model/assertion.ts';
import { createNotification, createRequest, readMeta, withId } from './messages.ts';
import type { MessageId, NotificationMessage, RequestMessage, ResponseMessage } from './messages.ts';

/**
 * Gives the requests of many clients ids of our own towards one server, and leads what the server says back to them. The same
 * number replaces the id and, where there is one, the progress token: both are only unique within one client.
 */
export interface RequestIds<Owner> {
  /** The request as the server shall see it. */
  assign(request: RequestMessage, owner: Owner): RequestMessage;
  /** The response as the client expects it, and whose it is; undefined once that client has given up. */
  resolve(response: ResponseMessage): { owner: Owner; message: ResponseMessage } | undefined;
  /** The notification as the client expects it, where it names a request by progress token or subscription. */
  locate(notification: NotificationMessage): { owner: Owner; message: NotificationMessage } | undefined;
  /** Forgets requests; the returned notifications tell the server. `params` are kept but for the request's id. */
  cancel(isCancelled: (owner: Owner) => boolean, params: JsonObject): NotificationMessage[];
  /** The owners of the requests in flight, oldest first. */
  listOwners(): Owner[];
  /** Forgets everything: the server is gone. */
  clear(): void;
}

interface Assigned<Owner> {
  id: MessageId;
  progressToken: unknown;
  owner: Owner;
}

export function createRequestIds<Owner>(): RequestIds<Owner> {
  const assigned = new Map<MessageId, Assigned<Owner>>();
  let lastNumber = 0;
  const find = (id: unknown) => (typeof id === 'number' ? assigned.get(id) : undefined);
  return {
    assign: (request, owner) => {
      lastNumber += 1;
      const number = lastNumber;
      const meta = readMeta(request.params);
      const { progressToken } = meta;
      assigned.set(number, { id: request.id, progressToken, owner });
      if (progressToken === undefined) return createRequest(number, request.method, request.params);
      const params = { ...request.params, _meta: { ...meta, progressToken: number } };
      return createRequest(number, request.method, params);
    },
    resolve: (response) => {
      const entry = find(response.id);
      if (entry === undefined) return undefined;
      assigned.delete(response.id);
      const { result } = response;
      const restored = isRecord(result) ? { ...response, result: restoreSubscription(result, entry.id) } : response;
      return { owner: entry.owner, message: withId(restored, entry.id) };
    },
    locate: (notification) => {
      const { method, params } = notification;
      // It could not be printed again.
      if (isTooDeep(params)) return undefined;
      const progress = method === 'notifications/progress' ? find(params['progressToken']) : undefined;
      if (progress !== undefined) {
        const restored = { ...params, progressToken: progress.progressToken };
        return { owner: progress.owner, message: createNotification(method, restored) };
      }
      const subscription = find(readMeta(params)[SUBSCRIPTION_ID_META_KEY]);
      if (subscription === undefined) return undefined;
      const restored = restoreSubscription(params, subscription.id);
      return { owner: subscription.owner, message: createNotification(method, restored) };
    },
    cancel: (isCancelled, params) =>
      [...assigned].flatMap(([number, entry]) => {
        if (!isCancelled(entry.owner)) return [];
        assigned.delete(number);
        return [createNotification('notifications/cancelled', { ...params, requestId: number })];
      }),
    listOwners: () => Array.from(assigned.values(), (entry) => entry.owner),
    clear: () => assigned.clear(),
  };
}

/** A subscription is named by the id of the request that opened it (MCP 2026-07-28, subscriptions/listen). */
function restoreSubscription(carrier: JsonObject, id: MessageId): JsonObject {
  const meta = readMeta(carrier);
  return SUBSCRIPTION_ID_META_KEY in meta
    ? { ...carrier, _meta: { ...meta, [SUBSCRIPTION_ID_META_KEY]: id } }
    : carrier;
}
