import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { ProtocolError } from '../base/errors.ts';

/** The resources of a server that a session watches. */
export interface Subscriptions {
  /**
   * Asks the server to report changes of a resource.
   *
   * @throws {ProtocolError} if the server has no subscriptions, or refuses this one
   * @throws the SDK's errors
   */
  subscribe(uri: string, options: RequestOptions & { signal: AbortSignal }): Promise<void>;
  /**
   * Resolves once the server has reported a change of the resource, or of a resource below it, that no earlier wait returned.
   *
   * @throws {ProtocolError} once the server ends the subscription
   * @throws the signal's reason
   */
  waitForUpdate(uri: string, options: { signal: AbortSignal }): Promise<void>;
}

interface Waiter {
  isMeant: (uri: string) => boolean;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/** Receives the changes of resources that the server reports to this client, and makes the client subscribe to them. */
export function watchResources(client: Client): Subscriptions {
  const updates: string[] = [];
  const waiters = new Set<Waiter>();
  /** The subscriptions that the server ended, by URI. */
  const ended = new Map<string, ProtocolError>();
  client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => {
    const waiter = [...waiters].find(({ isMeant }) => isMeant(uri));
    if (waiter === undefined) updates.push(uri);
    else waiter.resolve();
  });

  const end = (uri: string) => {
    const error = new ProtocolError('the server ended the subscription');
    ended.set(uri, error);
    for (const waiter of waiters) if (waiter.isMeant(uri)) waiter.reject(error);
  };
  const listen = async (uri: string, options: RequestOptions) => {
    const { honoredFilter, closed } = await client.listen({ resourceSubscriptions: [uri] }, options);
    if (honoredFilter.resourceSubscriptions?.includes(uri) !== true) {
      throw new ProtocolError('the server acknowledged the subscription without this resource');
    }
    ended.delete(uri);
    void closed.then((by) => (by === 'local' ? undefined : end(uri)));
  };
  return {
    subscribe: async (uri, options) => {
      const capability = client.getServerCapabilities()?.resources;
      if (capability?.subscribe !== true) {
        throw new ProtocolError('the server declares no capability `resources.subscribe`');
      }
      if (client.getProtocolEra() === 'modern') await listen(uri, options);
      else await client.subscribeResource({ uri }, options);
    },
    waitForUpdate: async (uri, { signal }) => {
      const isMeant = (updated: string) => updated === uri || isBelow(updated, uri);
      const known = updates.findIndex(isMeant);
      if (known !== -1) {
        updates.splice(known, 1);
        return;
      }
      const end = ended.get(uri);
      if (end !== undefined) throw end;
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter = { isMeant, resolve, reject };
      const stop = () => reject(signal.reason);
      waiters.add(waiter);
      signal.addEventListener('abort', stop);
      try {
        await promise;
      } finally {
        waiters.delete(waiter);
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

/** A server may report a part of a resource instead of the whole. */
function isBelow(updated: string, uri: string): boolean {
  return updated.startsWith(uri) && (uri.endsWith('/') || /^[/#?]/.test(updated.slice(uri.length)));
}
