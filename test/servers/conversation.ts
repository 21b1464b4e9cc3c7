import { type Channel, declareBrokenSchema, faults, type Fault, isFaultyRequest } from './faults.ts';
import type { Message } from './faults.ts';

/** What a shim does with a message of the server. */
type Passage = 'pass' | ((channel: Channel) => unknown);

/** Decides about the messages of one client and one server, where a fault may act instead of either. */
export interface Conversation {
  /** What to do with a request instead of passing it to the server; `pass` to pass it. */
  judgeRequest(request: Message): Passage;
  /** What to do with a message of the server; `pass` to pass it. */
  judgeAnswer(message: Message): Passage;
}

/** Puts a fault between a client and a server. `targetTool` is the tool that `call` means. */
export function createConversation(fault: Fault, targetTool: string): Conversation {
  const awaited = new Set<unknown>();
  const listings = new Set<unknown>();
  const declaresSchema = fault === faults['breaks-its-output-schema'];
  return {
    judgeRequest: (request) => {
      if (declaresSchema && request['method'] === 'tools/list') listings.add(request['id']);
      if (!isFaultyRequest(fault, request, targetTool)) return 'pass';
      if (fault.onRequest !== undefined) return (channel) => fault.onRequest?.(request, channel);
      awaited.add(request['id']);
      return 'pass';
    },
    judgeAnswer: (message) => {
      if ('method' in message) return 'pass';
      if (listings.delete(message['id'])) return (channel) => channel.send(declareBrokenSchema(message, targetTool));
      if (!awaited.delete(message['id']) || fault.onResponse === undefined) return 'pass';
      // The shim passes on a refusal, such as an old server's of `server/discover`.
      return 'error' in message ? 'pass' : (channel) => fault.onResponse?.(message, channel);
    },
  };
}

/** The requests of a shim to the client, by their ids, which no server gives. */
export class Questions {
  readonly #open = new Map<unknown, (answer: Message) => void>();
  #last = 0;

  ask(method: string, params: Message): { request: Message; answered: Promise<Message> } {
    this.#last += 1;
    const id = `shim-${this.#last}`;
    const { promise, resolve } = Promise.withResolvers<Message>();
    this.#open.set(id, resolve);
    return { request: { jsonrpc: '2.0', id, method, params }, answered: promise };
  }

  /** Whether the message answers a question of the shim, and so is none of the server's. */
  take(message: Message): boolean {
    if ('method' in message) return false;
    const resolve = this.#open.get(message['id']);
    resolve?.(message);
    return this.#open.delete(message['id']);
  }
}

/** The argument of a call that names its fault, where a shim has several. The server never gets it. */
export const faultArgument = 'fault';

/**
 * Picks what belongs to the fault that a message of the client names, and takes the name out of the message. A shim that has one
 * fault applies it to every message.
 */
export function pickByFault<T>(
  byFault: ReadonlyMap<string, T>,
  message: Message | null,
): { picked: T | null; forwarded: Message | null } {
  if (byFault.size === 1) return { picked: [...byFault.values()][0] ?? null, forwarded: message };
  const params = message?.['method'] === 'tools/call' ? (message['params'] as Message) : {};
  const { [faultArgument]: name, ...args } = (params['arguments'] ?? {}) as Message;
  if (typeof name !== 'string') return { picked: null, forwarded: message };
  return { picked: byFault.get(name) ?? null, forwarded: { ...message, params: { ...params, arguments: args } } };
}

/** Cuts a stream into lines, whatever characters they hold. */
export function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onLine(line);
  });
}

/** Reads one message; null where the text is none, such as a greeting. */
export function readMessage(text: string): Message | null {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return null;
  }
}

/** Cuts bytes within their first character of several bytes; the whole where there is none. */
export function splitWithinCharacter(bytes: Buffer): Buffer[] {
  const first = bytes.findIndex((byte) => byte >= 0x80);
  return first === -1 ? [bytes] : [bytes.subarray(0, first + 1), bytes.subarray(first + 1)];
}

/** Writes one after the other, with a pause after each part so that it arrives by itself. */
export class PacedWriter {
  #written: Promise<unknown> = Promise.resolve();
  readonly #write: (bytes: Buffer) => unknown;

  constructor(write: (bytes: Buffer) => unknown) {
    this.#write = write;
  }

  write(parts: readonly Buffer[]): void {
    this.#written = this.#writeAfter(this.#written, parts);
  }

  async #writeAfter(written: Promise<unknown>, parts: readonly Buffer[]): Promise<void> {
    await written;
    for (const [index, part] of parts.entries()) {
      if (index > 0) await pause();
      this.#write(part);
    }
  }

  /** Resolves once everything is written. */
  async drain(): Promise<void> {
    await this.#written;
  }
}

function pause(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 5);
  return promise;
}
