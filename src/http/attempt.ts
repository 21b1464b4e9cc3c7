import { request } from 'undici';
import { ProtocolError } from '../base/errors.ts';
import type { Redactor } from '../base/redaction.ts';
import { race, startTimeLimit, systemClock } from '../base/time.ts';
import { acceptedEncoding, parseJson, readBody } from './body.ts';
import type { Route } from './dispatcher.ts';
import { type FailedAnswer, readFailedAnswer } from './failed-answer.ts';
import type { AttemptFailure, AttemptOutcome } from './retry.ts';
import { readTransportError } from './transport-errors.ts';

/** What one attempt may cost. */
export interface AttemptLimits {
  headersTimeoutMs: number;
  /** From the first byte sent to the last byte read. */
  attemptTimeoutMs: number;
  /** Of the answer's body, decompressed. */
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
  /** Reads an answer that is no success; unless given, as of any HTTP service. */
  readFailure?: (answer: FailedAnswer, what: string) => AttemptFailure;
  /** Reads an answer that is a success; what it throws is the attempt's failure. Of the headers, only `contentType` is redacted. */
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
  // Sockets live in real time, whatever the clock of the caller says.
  using limit = startTimeLimit(systemClock, { afterMs: limits.attemptTimeoutMs, what, signal: options.signal });
  const { signal } = limit;
  try {
    const answering = request(url, {
      dispatcher,
      method,
      headers: { accept: 'application/json', 'accept-encoding': acceptedEncoding, ...headers },
      body: body ?? null,
      headersTimeout: limits.headersTimeoutMs,
      // Covered by the attempt's own timeout, which slow but steady bodies do not escape.
      bodyTimeout: 0,
      signal,
    });
    // The HTTP client looks at its signal only once a connection stands; a gate that stops has no time to wait for one.
    const response = await race(answering, { signals: [signal] });
    // Errors quote these, in small letters or in part, so a secret in them has to go before.
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
 * @throws {ProtocolError} which says what the answer claims to be, if that is something else
 */
export function parseJsonAnswer(text: string, contentType: string | undefined): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof ProtocolError) || contentType === undefined || /json/i.test(contentType)) throw error;
    throw new ProtocolError(error.message.replace(/\.$/, ` (${contentType.slice(0, 100)}).`), { cause: error });
  }
}
