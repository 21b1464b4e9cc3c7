import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { tryParseJson } from '../base/json.ts';

/** The browser or the page crashed or was closed, so that nothing can be established about the widget. */
export class BrowserGoneError extends Error {
  override name = 'BrowserGoneError';
}

/** The browser refused a command, for example because an element no longer exists. */
export class CommandError extends Error {
  override name = 'CommandError';
}

export interface DevToolsEvent {
  method: string;
  params: unknown;
  /** Undefined if the event belongs to the browser itself. */
  sessionId: string | undefined;
}

/** A connection to a browser in the Chrome DevTools Protocol. */
export interface DevTools {
  /**
   * Sends a command and returns its result.
   *
   * @throws {CommandError} if the browser refuses it
   * @throws {BrowserGoneError} once the connection is over
   */
  send(method: string, params?: object, sessionId?: string): Promise<unknown>;
  /** Calls the listener with every event. The returned function removes it. */
  listen(listener: (event: DevToolsEvent) => void): () => void;
  /** Ends the connection at once: `gone` aborts, and every waiting command is refused. */
  close(): void;
  /** Aborts with a BrowserGoneError when the connection is over. */
  readonly gone: AbortSignal;
}

/** The largest message that is read. A page can make the browser send a lot; no command or event here needs more. */
export const maxMessageBytes = 32 * 1024 * 1024;

const messageSchema = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  sessionId: z.string().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

/**
 * Talks to a browser through the pipes of `--remote-debugging-pipe`, on which each message is JSON with a NUL after it. Unlike a port, no
 * other process of the machine can connect to them.
 */
export function openDevTools(input: Writable, output: Readable): DevTools {
  const gone = new AbortController();
  const listeners = new Set<(event: DevToolsEvent) => void>();
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const end = (reason: string) => {
    if (gone.signal.aborted) return;
    const error = new BrowserGoneError(reason);
    gone.abort(error);
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    listeners.clear();
  };
  const receive = (text: string) => {
    const message = messageSchema.safeParse(tryParseJson(text)).data;
    if (message === undefined) return;
    const { id, method, params, sessionId, result, error } = message;
    if (id === undefined) {
      if (method !== undefined) for (const listener of listeners) listener({ method, params, sessionId });
      return;
    }
    const waiting = pending.get(id);
    pending.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new CommandError(error.message));
  };
  const split = createMessageSplitter(receive, () => {
    end('The browser sent a message that is too long.');
    output.destroy();
  });
  output.on('data', split);
  for (const stream of [input, output]) {
    stream.on('error', () => end('The connection to the browser broke.'));
    stream.on('close', () => end('The browser ended.'));
  }
  return {
    gone: gone.signal,
    send: async (method, params = {}, sessionId) => {
      gone.signal.throwIfAborted();
      lastId += 1;
      const answer = Promise.withResolvers<unknown>();
      pending.set(lastId, answer);
      input.write(`${JSON.stringify({ id: lastId, method, params, sessionId })}\0`);
      return await answer.promise;
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      end('The browser ended.');
      for (const stream of [input, output]) stream.destroy();
    },
  };
}

/** Splits bytes into messages that end with a NUL, wherever the chunks end. After a message that is too long, it reads nothing more. */
export function createMessageSplitter(
  onMessage: (text: string) => void,
  onExcess: () => void,
): (chunk: Uint8Array) => void {
  let parts: Uint8Array[] = [];
  let size = 0;
  let isOver = false;
  return (chunk) => {
    for (let rest = chunk; rest.length > 0 && !isOver;) {
      const end = rest.indexOf(0);
      const part = end === -1 ? rest : rest.subarray(0, end);
      parts.push(part);
      size += part.length;
      if (size > maxMessageBytes) {
        isOver = true;
        parts = [];
        onExcess();
        return;
      }
      if (end === -1) return;
      onMessage(Buffer.concat(parts).toString('utf8'));
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
    }
  };
}
