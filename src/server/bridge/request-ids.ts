import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/client';
import { isRecord, isTooDeep, type JsonObject } from '../../base/json.ts';
import {
  createNotification,
  createRequest,
  type MessageId,
  type NotificationMessage,
  readMeta,
  type RequestMessage,
  type ResponseMessage,
  withId,
} from './bridge-messages.ts';

/**
 * Gives the requests of many clients new ids for one server, and routes the server's messages back to them. The new number replaces the
 * id and the progress token, if there is one: both are unique only within one client.
 */
export interface RequestIds<Owner> {
  /** Returns the request with its new id for the server. */
  assign(request: RequestMessage, owner: Owner): RequestMessage;
  /** Returns the response with its original id, and its owner; undefined if the client has cancelled the request. */
  resolve(response: ResponseMessage): { owner: Owner; message: ResponseMessage } | undefined;
  /** Returns the notification with the original ids, if it names a request by progress token or subscription. */
  locate(notification: NotificationMessage): { owner: Owner; message: NotificationMessage } | undefined;
  /** Forgets requests, and returns the notifications that cancel them on the server. They have `params` with the new request id. */
  cancel(isCancelled: (owner: Owner) => boolean, params: JsonObject): NotificationMessage[];
  /** Lists the owners of the requests in flight, oldest first. */
  listOwners(): Owner[];
  /** Forgets everything, after the server has ended. */
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
      // Params that are nested too deep could not be printed again.
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

/** The id of the request that opened a subscription names it (MCP 2026-07-28, subscriptions/listen). */
function restoreSubscription(carrier: JsonObject, id: MessageId): JsonObject {
  const meta = readMeta(carrier);
  return SUBSCRIPTION_ID_META_KEY in meta
    ? { ...carrier, _meta: { ...meta, [SUBSCRIPTION_ID_META_KEY]: id } }
    : carrier;
}
