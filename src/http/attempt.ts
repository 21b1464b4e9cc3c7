import { request } from 'undici';
import { ProtocolError } from '../base/errors.ts';
import type { Redactor } from '../base/redaction.ts';
import { race, startTimeLimit, systemClock } from '../base/time.ts';
import { acceptedEncoding, parseJson, readBody } from './body.ts';
import type { Route } from './dispatcher.ts';
import { type FailedAnswer, readFailedAnswer } from './failed-answer.ts';
import type { AttemptFailure, AttemptOutcome } from './retry.ts';
import { readTransportError } from './transport-errors.ts';

/** The limits of one attempt. */
export interface AttemptLimits {
  headersTimeoutMs: number;
  /** The time limit from the first byte sent to the last byte read. */
  attemptTimeoutMs: number;
  /** The limit for the answer's body, decompressed. */
  maxBytes: number;
}

export interface AttemptRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
}

export interface AttemptOptions<T> {
  limits: AttemptLimits;
  redactor: Redactor;
  signal: AbortSignal;
  /** Reads an answer that is no success. By default it reads an answer of any HTTP service. */
  readFailure?: (answer: FailedAnswer, what: string) => AttemptFailure;
  /** Reads a successful answer. If it throws, the attempt fails with that error. Of the headers, only `contentType` is redacted. */
  parseAnswer: (text: string, contentType: string | undefined, headers: FailedAnswer['headers']) => T;
}

/**
 * Sends a request once and reads the whole answer, within its limits. Failures are values; only an abort of the
 * caller's signal throws, with the signal's reason.
 */
export async function attemptRequest<T>(
  { dispatcher, proxy }: Route,
  { method, url, headers, body }: AttemptRequest,
  options: AttemptOptions<T>,
): Promise<AttemptOutcome<T>> {
  const { limits, redactor, parseAnswer, readFailure = readFailedAnswer } = options;
  const what = `${method} ${url.pathname}`;
  // Sockets use real time, even if the caller injects another clock.
  using limit = startTimeLimit(systemClock, { afterMs: limits.attemptTimeoutMs, what, signal: options.signal });
  const { signal } = limit;
  try {
    const answering = request(url, {
      dispatcher,
      method,
      headers: { accept: 'application/json', 'accept-encoding': acceptedEncoding, ...headers },
      body: body ?? null,
      headersTimeout: limits.headersTimeoutMs,
      // The attempt's own timeout covers this; a slow but steady body cannot escape it.
      bodyTimeout: 0,
      signal,
    });
    // The HTTP client checks its signal only once a connection exists; a gate that stops must not wait for one.
    const response = await race(answering, { signals: [signal] });
    // Errors quote these in lower case or in part, where a redactor no longer finds a secret; so this redacts them first.
    const redactHeader = (name: string) => redactor.redact(response.headers[name]?.toString() ?? '') || undefined;
    const encoding = redactHeader('content-encoding');
    const text = await readBody(response.body, encoding, { maxBytes: limits.maxBytes, signal });
    const status = response.statusCode;
    if (status >= 300) {
      const headers = { ...response.headers, 'content-type': redactHeader('content-type') };
      const answer = { status, headers, text: redactor.redact(text) };
      return { ok: false, ...readFailure(answer, what) };
    }
    return { ok: true, answer: parseAnswer(text, redactHeader('content-type'), response.headers) };
  } catch (error) {
    options.signal.throwIfAborted();
    const { attemptTimeoutMs } = limits;
    return { ok: false, ...readTransportError(error, { url, what, attemptTimeoutMs, proxy }) };
  }
}

/**
 * Reads an answer as JSON.
 *
 * @throws {ProtocolError} with the content type of the answer, if it is not JSON
 */
export function parseJsonAnswer(text: string, contentType: string | undefined): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof ProtocolError) || contentType === undefined || /json/i.test(contentType)) throw error;
    throw new ProtocolError(error.message.replace(/\.$/, ` (${contentType.slice(0, 100)}).`), { cause: error });
  }
}
