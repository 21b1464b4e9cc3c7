import { once } from 'node:events';
import type { JsonObject } from '../../base/json.ts';
import { clipText } from '../../base/text.ts';
import { createResponseScanner } from '../../mcp/response-scanner.ts';
import { iterationLimits } from '../../mcp/traffic-budget.ts';
import type { OutputLine } from '../../model/process-end.ts';
import type { ProcessExit, ServerProcess } from '../process.ts';
import { type Message, parseMessage, type ResponseMessage, withId } from './bridge-messages.ts';

/** The longest message. A server that writes a longer one is broken. */
const maxMessageBytes = 64 * 1024 * 1024;

/** The longest quotation of stdout text that is no message: enough for the author of the server to recognize it. */
const maxQuotedOutput = 200;

/** The most bytes of answers to requests of the server that it has not read yet. Above this, its output is paused until it reads. */
const maxUnreadAnswers = 1024 * 1024;

/** Receives the messages and the end of a server. */
export interface ChildListener {
  /** Pauses the output until the returned promise settles. */
  onMessage(message: Message): Promise<void> | undefined;
  /** Called once if the server ended by itself; never after `stop` or `kill`. */
  onExit(exit: ProcessExit): void;
}

/** A conversation with an MCP server on stdio: a whole process, or one turn of a shared one. */
export interface Child {
  /** Resolves once the server's stdin accepts more. */
  send(message: Message): Promise<void>;
  /** Messages without a listener are dropped: no client has asked for them. */
  setListener(listener: ChildListener): void;
  /** Closes the server's stdin first, so that it can end by itself. */
  stop(): Promise<void>;
  /** Returns the last lines of output that are no message. Absent if the conversation has no process of its own. */
  readOutput?(): readonly OutputLine[];
}

/** The handshake that the gate has completed with a process before a client took it. */
export interface Opening {
  /** The parameters of `initialize`. */
  params: JsonObject;
  /** The answer to it. */
  answer: ResponseMessage;
  /** Passes on the messages that the server has sent since then. */
  release: (onMessage: ChildListener['onMessage']) => void;
}

/** A conversation with a process of its own. */
export interface ProcessChild extends Child {
  readOutput(): readonly OutputLine[];
  /** True if the process has ended, even if some of its output is still unread. */
  readonly hasEnded: boolean;
  /** Set once the process has ended for any reason. */
  readonly exit: ProcessExit | null;
  /** True if the gate has asked it to end. */
  readonly isEnding: boolean;
  /** Resolves when the process has ended. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** True if it owes an answer: a request was sent, and neither answered nor cancelled. */
  readonly isAnswering: boolean;
  /** True if it has answered any request. */
  readonly hasAnswered: boolean;
  /** The first line on stdout that is no JSON-RPC message, shortened; null if there was none. */
  readonly nonProtocolOutput: string | null;
  /** Null unless the gate has initialized it for the first client. */
  opening: Opening | null;
  kill(): Promise<void>;
  /** Kills the process for its behaviour, so that the end counts as its own. `why` is added to its output. */
  expel(why: string): void;
}

/**
 * Reads and writes JSON-RPC lines on a process's stdio. Skips lines that are no message, but stores them with stderr;
 * `onNonProtocolOutput` gets the first one.
 */
export function connectChild(
  server: ServerProcess,
  { onNonProtocolOutput }: { onNonProtocolOutput?: (line: string) => void } = {},
): ProcessChild {
  let listener: ChildListener | undefined;
  let exit: ProcessExit | null = null;
  let nonProtocolOutput: string | null = null;
  let isEnding = false;
  let hasAnswered = false;
  let draining: Promise<unknown> | undefined;
  let isExpelled = false;
  let unreadAnswers = 0;
  let holds = 0;
  const unanswered = new Set<unknown>();

  /** Pauses the output of the server until the promise settles, or the gate asks the server to end. */
  const hold = (until: Promise<unknown>) => {
    if (isEnding) return;
    holds += 1;
    server.stdout.pause();
    void until.finally(() => {
      holds -= 1;
      if (holds === 0) server.stdout.resume();
    });
  };
  const emit = (message: Message) => {
    const handled = listener?.onMessage(message);
    if (handled !== undefined) hold(handled);
  };
  const expel = (why: string) => {
    server.addOutput(Buffer.from(`${why}; the process was ended.\n`));
    isExpelled = true;
    void server.kill();
  };
  /** Resumes the output, though nothing reads it any more: a server that cannot write cannot exit. */
  const letGo = () => {
    isEnding = true;
    server.stdout.resume();
  };

  const reader = createLineReader({
    maxLineBytes: maxMessageBytes,
    limits: iterationLimits,
    onLine: (line) => {
      const message = parseMessage(line);
      if (message === undefined) {
        server.addOutput(Buffer.from(`${line}\n`));
        if (nonProtocolOutput !== null) return;
        nonProtocolOutput = clipText(line, maxQuotedOutput);
        onNonProtocolOutput?.(nonProtocolOutput);
        return;
      }
      if (message.kind !== 'response') {
        emit(message);
        return;
      }
      hasAnswered = true;
      const response = matchRequest(message, unanswered);
      unanswered.delete(response.id);
      emit(response);
    },
    onOverflow: (why) => expel(`A line on stdout ${why}`),
  });
  server.stdout.on('data', (chunk: Buffer) => {
    if (!isEnding && !isExpelled) reader.push(chunk);
  });
  const exited = server.exited.then((ended) => {
    exit = ended;
    if (!isEnding) listener?.onExit(ended);
    return ended;
  });

  return {
    get hasEnded() {
      return server.hasEnded;
    },
    get exit() {
      return exit;
    },
    get isEnding() {
      return isEnding;
    },
    get isAnswering() {
      return unanswered.size > 0;
    },
    get hasAnswered() {
      return hasAnswered;
    },
    get nonProtocolOutput() {
      return nonProtocolOutput;
    },
    opening: null,
    exited,
    readOutput: () => server.readOutput(),
    setListener: (next) => {
      listener = next;
    },
    send: async (message) => {
      if (message.kind === 'request') unanswered.add(message.id);
      if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
        unanswered.delete(message.params['requestId']);
      }
      if (exit !== null || server.stdin.destroyed || server.stdin.write(`${message.text}\n`)) return;
      draining ??= Promise.race([once(server.stdin, 'drain').catch(() => {}), exited]).finally(() => {
        draining = undefined;
        unreadAnswers = 0;
      });
      if (message.kind === 'response') {
        const wasBelowLimit = unreadAnswers <= maxUnreadAnswers;
        unreadAnswers += message.text.length;
        if (wasBelowLimit && unreadAnswers > maxUnreadAnswers) hold(draining);
      }
      await draining;
    },
    stop: async () => {
      letGo();
      await server.stop();
    },
    kill: async () => {
      letGo();
      await server.kill();
    },
    expel,
  };
}

/** Restores the id of the request. Some servers return a number as a string, which the official clients accept. */
function matchRequest(response: ResponseMessage, unanswered: ReadonlySet<unknown>): ResponseMessage {
  const { id } = response;
  const number = Number(id);
  const isNumber = typeof id === 'string' && String(number) === id;
  return isNumber && !unanswered.has(id) && unanswered.has(number) ? withId(response, number) : response;
}

const lineFeed = 10;

/** Splits a byte stream into lines. Holds at most one line, of limited size. */
export interface LineReader {
  push(chunk: Buffer): void;
}

/** `onOverflow` is called once, if a line is too long or has too many JSON values; nothing is read after that. */
export function createLineReader(options: {
  maxLineBytes: number;
  /** The limits of the JSON in a line, checked before it is parsed. */
  limits: { values: number; structures: number };
  onLine: (line: string) => void;
  onOverflow: (why: string) => void;
}): LineReader {
  let parts: Buffer[] = [];
  let pendingBytes = 0;
  let hasOverflowed = false;

  const overflow = (why: string) => {
    hasOverflowed = true;
    parts = [];
    options.onOverflow(why);
  };
  /** Returns true if reading continues. */
  const keep = (part: Buffer): boolean => {
    if (hasOverflowed) return false;
    pendingBytes += part.length;
    if (pendingBytes > options.maxLineBytes) {
      overflow(`is longer than ${options.maxLineBytes} bytes`);
    } else if (part.length > 0) {
      parts.push(part);
    }
    return !hasOverflowed;
  };
  const takeLine = (): Buffer => {
    const [first] = parts;
    const line = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    parts = [];
    pendingBytes = 0;
    return line;
  };
  return {
    push: (chunk) => {
      let start = 0;
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        if (!keep(chunk.subarray(start, end))) return;
        start = end + 1;
        const line = takeLine();
        const excess = findExcess(line, options.limits);
        if (excess !== null) {
          overflow(excess);
          return;
        }
        if (line.length > 0) options.onLine(line.toString('utf8'));
      }
      keep(chunk.subarray(start));
    },
  };
}

/** Scans only lines that are long enough to exceed a limit: each array and object takes two bytes, and each value one. */
function findExcess(line: Buffer, { values, structures }: { values: number; structures: number }): string | null {
  if (line.length <= Math.min(values, 2 * structures)) return null;
  const scanner = createResponseScanner({ isEventStream: false });
  scanner.scan(line);
  const { found } = scanner;
  if (found.structures > structures) return `has more than ${structures} arrays and objects`;
  return found.values > values ? `is JSON of more than ${values} values` : null;
}
