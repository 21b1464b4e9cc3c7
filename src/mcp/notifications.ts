import type { Client, LoggingLevel } from '@modelcontextprotocol/client';
import type { ProtocolEra } from './protocol.ts';
import type { Task } from './tasks.ts';

export const listKinds = ['tools', 'resources', 'prompts'] as const;
export type ListKind = (typeof listKinds)[number];

/** What a server says unasked, apart from what belongs to a call. */
export type ServerNotification =
  | { kind: 'log'; level: LoggingLevel; logger: string | null; data: unknown }
  | { kind: 'listChanged'; of: ListKind };

/** What a server says of a call that is under way. */
export type CallUpdate =
  | { kind: 'progress'; progress: number; total: number | null; message: string | null }
  | { kind: 'task'; taskId: string; status: Task['status']; message: string | null };

/** What a session asks its server to report. */
export interface Watch {
  /** The least severe level; null leaves it to the server. */
  logLevel: LoggingLevel | null;
  /** Whether changes of lists matter. In 2026-07-28, a server reports them only to clients that ask. */
  lists: boolean;
  onNotification: (notification: ServerNotification) => void;
}

export const watchNothing: Watch = { logLevel: null, lists: false, onNotification: () => {} };

/** The updates of the calls under way, by the token that their progress is reported under. */
export interface ProgressRoutes {
  /** Opens a route until the result is disposed. Progress after the call was answered reaches it too, which a task may report. */
  open(onUpdate: (update: CallUpdate) => void): Disposable & { token: number };
}

/** Receives the progress of calls, log messages and changes of lists. To be called before the client connects. */
export function receiveNotifications(
  client: Client,
  { onNotification }: Pick<Watch, 'onNotification'>,
): ProgressRoutes {
  const routes = new Map<number, (update: CallUpdate) => void>();
  let lastToken = 0;
  client.setNotificationHandler('notifications/progress', ({ params }) => {
    const { progressToken, progress, total = null, message = null } = params;
    routes.get(Number(progressToken))?.({ kind: 'progress', progress, total, message });
  });
  client.setNotificationHandler('notifications/message', ({ params: { level, logger = null, data } }) => {
    onNotification({ kind: 'log', level, logger, data });
  });
  for (const of of listKinds) {
    client.setNotificationHandler(`notifications/${of}/list_changed`, () =>
      onNotification({ kind: 'listChanged', of }),
    );
  }
  return {
    open: (onUpdate) => {
      lastToken += 1;
      const token = lastToken;
      routes.set(token, onUpdate);
      return { token, [Symbol.dispose]: () => void routes.delete(token) };
    },
  };
}

/**
 * Asks a connected server for what the session watches. A server that refuses may still report some of it.
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
    if (era === 'legacy' && logLevel !== null && capabilities.logging !== undefined) {
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
