import { ProtocolError } from '../base/errors.ts';
import type { CountChunk } from '../http/exchange.ts';
import { createResponseScanner, type ResponseScan, type ResponseScanner } from './response-scanner.ts';

/** The limits of a server's traffic, so that it cannot exhaust the process that reads it. */
export interface TrafficLimits {
  /** The bytes of all response bodies together, decompressed. */
  bytes: number;
  /** Messages: events of streams, and items of batches. */
  events: number;
  /** Arrays, objects and members of all responses together: each takes many times its bytes once it is parsed. */
  values: number;
  /** Arrays and objects of one message. A message is parsed and checked in one step, which no time limit can interrupt. */
  structures: number;
  /** Arrays and objects around one value. Readers recurse for each level. */
  depth: number;
  /** Requests, including answers of the client and reopened streams. */
  requests: number;
}

const mebibyte = 1024 * 1024;

/** The limits of one iteration. */
export const iterationLimits: TrafficLimits = {
  bytes: 64 * mebibyte,
  events: 10_000,
  values: 1_000_000,
  structures: 100_000,
  depth: 1000,
  requests: 2000,
};

/** A server crossed a limit. Unlike a lost answer, this is evidence against the server. */
export class ExcessError extends ProtocolError {}

/** Counts the traffic of one server in answer to one client. */
export interface TrafficBudget {
  /** Aborts with the ExcessError once a limit is crossed. */
  readonly signal: AbortSignal;
  readonly excess: ExcessError | null;
  /** @throws {ExcessError} if this request exceeds the limit. */
  addRequest(): void;
  /**
   * Counts the chunks of one response with this content type.
   *
   * @throws {ExcessError} from the returned function, if a chunk exceeds a limit.
   */
  openCount(contentType: string): CountChunk;
  /** Counts a message that came without HTTP. False if a limit is crossed, and for every message after that. */
  addMessage(text: string): boolean;
}

/** `scope` completes the sentence "The server sent more than 64 MiB …". */
export function createTrafficBudget(limits: TrafficLimits, scope: string): TrafficBudget {
  const over = new AbortController();
  let excess: ExcessError | null = null;
  const spent = { bytes: 0, events: 0, values: 0, requests: 0 };

  const cross = (message: string): ExcessError => {
    excess ??= new ExcessError(`The server ${message}, the limit ${scope}.`);
    over.abort(excess);
    return excess;
  };
  const findExcess = ({ depth, structures }: ResponseScan): string | null => {
    if (spent.bytes > limits.bytes) {
      const size = limits.bytes / mebibyte;
      return `sent more than ${size} MiB in ${spent.requests} responses`;
    }
    if (spent.events > limits.events) return `sent more than ${limits.events} messages`;
    if (spent.values > limits.values) return `sent JSON of more than ${limits.values} values`;
    if (structures > limits.structures) {
      return `sent a message of more than ${limits.structures} arrays and objects`;
    }
    return depth > limits.depth ? `sent JSON that is nested deeper than ${limits.depth} levels` : null;
  };
  /** Counts a chunk that the scanner reads. Returns the error if it crosses a limit. */
  const count = (scanner: ResponseScanner, chunk: Uint8Array): ExcessError | null => {
    const { events, values } = scanner.found;
    scanner.scan(chunk);
    spent.bytes += chunk.byteLength;
    spent.events += scanner.found.events - events;
    spent.values += scanner.found.values - values;
    const found = findExcess(scanner.found);
    return found === null ? null : cross(found);
  };
  return {
    signal: over.signal,
    get excess() {
      return excess;
    },
    addRequest: () => {
      if (excess !== null) throw excess;
      spent.requests += 1;
      if (spent.requests > limits.requests) throw cross(`caused more than ${limits.requests} requests`);
    },
    openCount: (contentType) => {
      const isEventStream = contentType.trim().toLowerCase().startsWith('text/event-stream');
      const scanner = createResponseScanner({ isEventStream });
      return (chunk) => {
        const crossed = count(scanner, chunk);
        if (crossed !== null) throw crossed;
      };
    },
    addMessage: (text) => {
      if (excess !== null) return false;
      spent.events += 1;
      return count(createResponseScanner({ isEventStream: false }), Buffer.from(text)) === null;
    },
  };
}
