import type { Client } from '@modelcontextprotocol/client';
import { type CallUpdate, changingLists, type LogLevel, type ServerNotification } from '../model/notification.ts';
import type { ProtocolEra } from './protocol.ts';

/** The notifications that a session asks its server for. */
export interface Watch {
  /** The least severe level; null lets the server decide. */
  logLevel: LogLevel | null;
  /** True if the client announces that it shows apps; otherwise a server need not declare any. */
  apps: boolean;
  /** True if changes of lists matter. In 2026-07-28, a server reports them only to clients that ask. */
  lists: boolean;
  onNotification: (notification: ServerNotification) => void;
}

export const watchNothing: Watch = { logLevel: null, lists: false, apps: false, onNotification: () => {} };

/**
 * Makes the token for reports of a call's progress. It stays valid until the session ends, since a task may report progress after its
 * result.
 */
export type OpenProgress = (onUpdate: (update: CallUpdate) => void) => number;

/** Receives the progress of calls, log messages and changes of lists. Call it before the client connects. */
export function receiveNotifications(client: Client, { onNotification }: Pick<Watch, 'onNotification'>): OpenProgress {
  const routes: Array<(update: CallUpdate) => void> = [];
  client.setNotificationHandler('notifications/progress', ({ params }) => {
    const { progressToken, progress, total = null, message = null } = params;
    routes[Number(progressToken)]?.({ kind: 'progress', progress, total, message });
  });
  client.setNotificationHandler('notifications/message', ({ params: { level, logger = null, data } }) => {
    onNotification({ kind: 'log', level, logger, data });
  });
  for (const of of changingLists) {
    client.setNotificationHandler(`notifications/${of}/list_changed`, () =>
      onNotification({ kind: 'listChanged', of }),
    );
  }
  return (onUpdate) => routes.push(onUpdate) - 1;
}

/**
 * Asks a connected server for the notifications of the session. A server that refuses may still send some of them.
 *
 * @throws the signal's reason
 */
export async function requestNotifications(
  client: Client,
  era: ProtocolEra,
  {
    logLevel,
    lists,
    signal,
    timeoutMs,
  }: Pick<Watch, 'logLevel' | 'lists'> & { signal: AbortSignal; timeoutMs: number },
): Promise<void> {
  const capabilities = client.getServerCapabilities() ?? {};
  const options = { signal, timeout: timeoutMs };
  try {
    if (era !== 'modern' && logLevel !== null && capabilities.logging !== undefined) {
      await client.setLoggingLevel(logLevel, options);
    }
    if (era === 'modern' && lists) {
      const filter = {
        ...(capabilities.tools?.listChanged === true && { toolsListChanged: true }),
        ...(capabilities.resources?.listChanged === true && { resourcesListChanged: true }),
        ...(capabilities.prompts?.listChanged === true && { promptsListChanged: true }),
      };
      if (Object.keys(filter).length > 0) await client.listen(filter, options);
    }
  } catch {
    signal.throwIfAborted();
  }
}
