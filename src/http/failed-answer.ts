import { z } from 'zod';
import { ProtocolError, ServiceError } from '../base/errors.ts';
import { clipText } from '../base/text.ts';
import { parseJson } from './body.ts';
import { type AttemptFailure, parseRetryAfter } from './retry.ts';

/** The parts of an unsuccessful answer that describe the failure. `text` is redacted already. */
export interface FailedAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** The service's own description of an error. */
export interface ErrorEnvelope {
  /** Derived from the status if the body has no code. */
  code: string;
  message: string;
  details?: Record<string, unknown> | null | undefined;
}

const envelopeSchema = z.object({
  code: z.string(),
  message: z.string(),
  // Only people read the details; an unexpected shape must not fail the request.
  details: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});

/** Some routes answer in another shape. */
const bareErrorSchema = z.object({ error: z.string(), message: z.undefined().optional() });

/** Services write sentences; a longer message is probably a dump. */
const longestMessage = 500;

/**
 * Turns an unsuccessful answer into a failure: a ServiceError, or a ProtocolError for a redirect. `what` names the request: `GET /me`.
 * `advise` gives the hint.
 */
export function readFailedAnswer(
  answer: FailedAnswer,
  what: string,
  advise: (status: number, envelope: ErrorEnvelope) => string | undefined = adviseOnStatus,
): AttemptFailure {
  const { status } = answer;
  if (status < 400) return refuseRedirect(status, what);
  const envelope = readEnvelope(answer);
  const { code, message, details } = envelope;
  const retryAfterMs = readRetryAfterMs(answer, details);
  const error = new ServiceError(`The service answered ${status} ${code} to ${what}: ${message}`, {
    code,
    status,
    ...(details ? { details } : {}),
    retryAfterMs,
    hint: advise(status, envelope),
  });
  // A rate limiter refuses before anything is carried out, so that even a request that must not run twice may be repeated.
  if (status === 429) return { error, retryAfterMs, repeat: 'always', isRateLimited: true };
  return { error, retryAfterMs, repeat: status >= 500 ? 'if-safe' : 'never' };
}

/** Gives hints that apply to any HTTP service. */
export function adviseOnStatus(status: number): string | undefined {
  if (status === 407) return 'A proxy in between asks for credentials; give them in the URL of HTTPS_PROXY.';
  if (status >= 500) return 'The service has a problem of its own; run the job again later.';
  return undefined;
}

/** Refuses a redirect: to follow it would send the key to any address that the answer names. */
function refuseRedirect(status: number, what: string): AttemptFailure {
  const message = `The service answered ${status}, a redirect, to ${what}; redirects are not followed.`;
  const error = new ProtocolError(message, { hint: 'Give the base URL that the service itself answers on.' });
  return { error, repeat: 'never' };
}

function readEnvelope(answer: FailedAnswer): ErrorEnvelope {
  const code = codeOfStatus(answer.status);
  try {
    const body = parseJson(answer.text);
    const bare = bareErrorSchema.safeParse(body);
    const envelope = bare.success ? { code, message: bare.data.error } : envelopeSchema.parse(body);
    return { ...envelope, message: clipText(envelope.message, longestMessage) };
  } catch {
    const contentType = String(answer.headers['content-type'] ?? 'no content type');
    return { code, message: `no reason was given (${clipText(contentType, longestMessage)}).` };
  }
}

/** Proxies answer with pages of their own; then only the status identifies the error. */
function codeOfStatus(status: number): string {
  const codes: Record<number, string> = {
    401: 'UNAUTHORIZED',
    403: 'FORBIDDEN',
    404: 'NOT_FOUND',
    429: 'RATE_LIMITED',
  };
  return codes[status] ?? 'INTERNAL_ERROR';
}

function readRetryAfterMs({ headers }: FailedAnswer, details: ErrorEnvelope['details']): number | undefined {
  const fromHeader = parseRetryAfter(firstOf(headers['retry-after']), firstOf(headers['date']));
  const fromDetails = details?.['retryAfterMs'];
  return fromHeader ?? (typeof fromDetails === 'number' && fromDetails > 0 ? fromDetails : undefined);
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
