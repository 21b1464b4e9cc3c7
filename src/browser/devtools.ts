import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { tryParseJson } from '../base/json.ts';

/** The browser, or the page that is asked about, is no more: nothing can be established, whatever the page would have shown. */
export class BrowserGoneError extends Error {
  override name = 'BrowserGoneError';
}

/** The browser refused a command, as for an element that is no more. */
export class CommandError extends Error {
  override name = 'CommandError';
}

export interface DevToolsEvent {
  method: string;
  params: unknown;
  /** Undefined for the browser itself. */
  sessionId: string | undefined;
}

/** A connection to a browser in the Chrome DevTools Protocol. */
export interface DevTools {
  /**
   * Sends a command and returns its result.
   *
   * @throws {CommandError} where the browser refuses it
   * @throws {BrowserGoneError} once the connection is over
   */
  send(method: string, params?: object, sessionId?: string): Promise<unknown>;
  /** Calls the listener with every event until the function that it returns is called. */
  listen(listener: (event: DevToolsEvent) => void): () => void;
  /** Ends the connection at once: `gone` aborts, and every command that waits is refused. */
  close(): void;
  /** Aborts with a BrowserGoneError when the connection is over. */
  readonly gone: AbortSignal;
}

/** A page can make the browser send much; no command or event here needs more. */
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
 * Speaks with a browser through the pipes of `--remote-debugging-pipe`, on which each message is JSON with a NUL after it. No other
 * process of the machine can connect to them, unlike to a port.
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

/** Splits bytes into the messages that end with a NUL, however the bytes are cut. After one that is too long, nothing is read any more. */
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
