import type { ServerResponse } from 'node:http';
import type { Message } from './bridge-messages.ts';

/** The most unread bytes of a client. Above this it counts as not reading and is disconnected, so that it does not hold up the others. */
const maxBufferedBytes = 64 * 1024 * 1024;

/** The unread bytes of a client above which its server has to wait. */
const maxUnreadBytes = 1024 * 1024;

/** The headers of MCP's own servers. `X-Accel-Buffering` stops proxies from buffering events. */
const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * The format of the HTTP response. `sse`: always an event stream; `auto`: plain JSON if the first message is the last one, else an event
 * stream; `json`: only the last message.
 */
export type ReplyFormat = 'sse' | 'auto' | 'json';

/** The open response to one request, or a session's separate stream. It does not buffer messages. */
export interface Reply {
  readonly isOpen: boolean;
  /** Sends a message that others will follow. The returned promise settles once the client has read enough for more. */
  send(message: Message): Promise<void> | undefined;
  /** Sends the last message, or none, and ends the response. The HTTP status applies only if nothing has been sent. */
  end(message?: Message, status?: number): void;
}

/** A reply that is an HTTP response. */
export interface HttpReply extends Reply {
  /** Keeps the stream alive: sends the headers if they are still unsent, and a comment. */
  keepAlive(): void;
}

/** The open replies of an endpoint. */
export interface Replies {
  open(response: ServerResponse, options: { format: ReplyFormat; headers?: Record<string, string> }): HttpReply;
  /** Keeps the streams of all open replies alive. */
  keepAlive(): void;
}

export function createReplies(): Replies {
  const all = new Set<HttpReply>();
  return {
    open: (response, options) => {
      const reply = openReply(response, options);
      all.add(reply);
      response.once('close', () => all.delete(reply));
      return reply;
    },
    keepAlive: () => {
      for (const reply of all) reply.keepAlive();
    },
  };
}

/** Sends the headers with the first message, so that a short answer is one write and its status can still be chosen. */
function openReply(
  response: ServerResponse,
  options: { format: ReplyFormat; headers?: Record<string, string> },
): HttpReply {
  const { format } = options;
  const writeEventStreamHead = () => {
    if (!response.headersSent) response.writeHead(200, { ...eventStreamHeaders, ...options.headers });
  };
  const write = (payload: string) => {
    response.write(payload);
    if (response.writableLength > maxBufferedBytes) response.destroy();
  };
  let reading: Promise<void> | undefined;
  const waitForReader = (): Promise<void> | undefined => {
    if (response.destroyed || response.writableLength <= maxUnreadBytes) return undefined;
    return (reading ??= new Promise((resolve) => {
      const settle = () => {
        response.off('drain', settle).off('close', settle);
        reading = undefined;
        resolve();
      };
      response.once('drain', settle).once('close', settle);
    }));
  };
  const isOpen = () => !response.writableEnded && !response.destroyed;
  return {
    get isOpen() {
      return isOpen();
    },
    send: ({ text }) => {
      if (!isOpen() || format === 'json') return undefined;
      writeEventStreamHead();
      write(renderEvent(text));
      return waitForReader();
    },
    end: (message, status = 200) => {
      const text = message?.text;
      if (!isOpen()) return;
      if (response.headersSent || (format === 'sse' && status === 200)) {
        writeEventStreamHead();
        response.end(text === undefined ? undefined : renderEvent(text));
        return;
      }
      const type = text === undefined ? {} : { 'content-type': 'application/json' };
      response.writeHead(status, { ...type, ...options.headers });
      response.end(text);
    },
    keepAlive: () => {
      if (!isOpen() || format === 'json') return;
      writeEventStreamHead();
      write(': keep-alive\n\n');
    },
  };
}

function renderEvent(text: string): string {
  return `event: message\ndata: ${text}\n\n`;
}
