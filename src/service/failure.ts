import { clipText } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { ConfigurationError, describeError, NetworkError, ProtocolError, ServiceError } from '../base/errors.ts';
import { parseRetryAfter } from '../base/retry.ts';
import { parseJson } from './body.ts';
import { explainProxyRefusal, readProxyStatus } from './proxy-refusal.ts';
import type { ProxyHop } from './route.ts';
import { bareErrorSchema, errorEnvelopeSchema } from './wire.ts';
import type { WireErrorEnvelope } from './wire.ts';

/** Why an attempt came to nothing, and when another one may be made. */
export interface AttemptFailure {
  error: NetworkError | ServiceError | ProtocolError | ConfigurationError;
  /** `always`: nothing was carried out; `if-safe`: something may have been, so only what may happen twice is repeated. */
  repeat: 'always' | 'if-safe' | 'never';
  /** How many attempts are enough to tell that no other will be answered; as many as usual where it is left out. */
  maxAttempts?: number;
  /** Whether the key is being used too fast, so that every call should slow down. */
  isRateLimited?: boolean;
}

/** An answer other than success, as far as it describes the failure. `text` is redacted already. */
export interface FailedAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** A server that is out of the service's reach, and an answer of another shape, are rarely gone after a moment. */
export const fewAttempts = 3;

/** What routes without an envelope of their own say where a plan is used up: waiting a moment does not help. */
const usedUp = /billing_limit_reached|maxEvalIterationsPerMonth/;

/** Services write sentences; a longer message is a dump of something. */
const longestMessage = 500;

/** Makes an error of an answer that is not a success. `what` names the request: `GET /me`. */
export function readFailedAnswer(answer: FailedAnswer, what: string, serverUnreachableHint?: string): AttemptFailure {
  if (answer.status < 400) return refuseRedirect(answer, what);
  const { code, message, details } = readEnvelope(answer);
  const isUsedUp = details?.['gateKey'] !== undefined || usedUp.test(answer.text);
  const isRateLimited = answer.status === 429 && !isUsedUp && !isQueueDetails(details);
  const error = new ServiceError(`The service answered ${answer.status} ${code} to ${what}: ${message}`, {
    code,
    status: answer.status,
    ...(details ? { details } : {}),
    retryAfterMs: readRetryAfterMs(answer, details),
    hint: code === 'SERVER_UNREACHABLE' ? serverUnreachableHint : adviseOn(code, answer.status, { details, isUsedUp }),
  });
  // A limiter refuses before anything is carried out, so even a request without a key may be sent again.
  if (isRateLimited) return { error, repeat: 'always', isRateLimited };
  // It connects to the server before it carries anything out.
  if (code === 'SERVER_UNREACHABLE') return { error, repeat: 'always', maxAttempts: fewAttempts };
  return { error, repeat: answer.status >= 500 ? 'if-safe' : 'never' };
}

/**
 * Makes a configuration error of what a service, or a proxy in front of it, refuses on every attempt. A plan that is
 * used up is not: it has a time at which it is not any more.
 */
export function explainRefusal({ error, repeat }: AttemptFailure): AttemptFailure['error'] {
  const isUsedUp = error instanceof ServiceError && error.status === 429;
  if (repeat !== 'never' || isUsedUp || error instanceof ConfigurationError) return error;
  const { message, hint, cause = error } = error;
  return new ConfigurationError([{ code: 'refused-by-service', message }], {
    ...(hint === undefined ? {} : { hint }),
    cause: error instanceof ServiceError ? error : cause,
  });
}

/** Whether a service refused a run because as many are in progress as may be: a queue, which moves in minutes. */
export function isQueueRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 429 && isQueueDetails(error.details);
}

function isQueueDetails(details: WireErrorEnvelope['details']): boolean {
  return details?.['reason'] === 'CONCURRENT_RUN_LIMIT';
}

/** Following would carry the key to wherever the answer points. */
function refuseRedirect({ status }: FailedAnswer, what: string): AttemptFailure {
  const error = new ProtocolError(
    `The service answered ${status}, a redirect, to ${what}; redirects are not followed.`,
    {
      hint: 'Give the base URL that the service itself answers on.',
    },
  );
  return { error, repeat: 'never' };
}

function readEnvelope(answer: FailedAnswer): WireErrorEnvelope {
  const code = codeOfStatus(answer.status);
  try {
    const body = parseJson(answer.text);
    // What lies behind the routes of ingestion has a shape of its own.
    const bare = bareErrorSchema.safeParse(body);
    const envelope = bare.success ? { code, message: bare.data.error } : errorEnvelopeSchema.parse(body);
    return { ...envelope, message: clipText(envelope.message, longestMessage) };
  } catch {
    const contentType = String(answer.headers['content-type'] ?? 'no content type');
    return { code, message: `no reason was given (${clipText(contentType, longestMessage)}).` };
  }
}

/** Proxies answer with pages of their own; the status is all there is to go by then. */
function codeOfStatus(status: number): string {
  const codes: Record<number, string> = {
    401: 'UNAUTHORIZED',
    403: 'FORBIDDEN',
    404: 'NOT_FOUND',
    429: 'RATE_LIMITED',
  };
  return codes[status] ?? 'INTERNAL_ERROR';
}

function readRetryAfterMs({ headers }: FailedAnswer, details: WireErrorEnvelope['details']): number | undefined {
  const fromHeader = parseRetryAfter(firstOf(headers['retry-after']), firstOf(headers['date']));
  const fromDetails = details?.['retryAfterMs'];
  return fromHeader ?? (typeof fromDetails === 'number' && fromDetails > 0 ? fromDetails : undefined);
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function adviseOn(
  code: string,
  status: number,
  { details, isUsedUp }: { details: WireErrorEnvelope['details']; isUsedUp: boolean },
): string | undefined {
  if (code === 'OAUTH_REQUIRED') return 'The MCP server asks for OAuth; connect it in the project first.';
  if (isUsedUp) return "The organization's plan is used up; raise it or wait for its reset.";
  if (isQueueDetails(details)) {
    return 'As many runs as the organization may have are in progress; run the job again when they are done.';
  }
  if (status === 401) return 'Check that the API key is the whole key, belongs to this service and was not revoked.';
  if (status === 403) return 'The API key may lack access to the project, or the MCP server refused its credentials.';
  if (status === 404) return 'Check the ids; a project that the key has no access to is also answered with 404.';
  if (status === 407) return 'A proxy in between asks for credentials; give them in the URL of HTTPS_PROXY.';
  if (status === 429) return 'The API key is used by too much at once; run fewer jobs in parallel.';
  if (status >= 500) return 'The service has a problem of its own; run the job again later.';
  return undefined;
}

/** Makes an error of whatever kept an answer from arriving. Names host and port, and never the rest of the URL. */
export function readTransportError(
  error: unknown,
  options: { url: URL; what: string; attemptTimeoutMs: number; proxy: ProxyHop | null },
): AttemptFailure {
  if (error instanceof ProtocolError) {
    const message = `${error.message} (${options.what})`;
    return { error: new ProtocolError(message, { cause: error, hint: notThisServiceHint }), repeat: 'if-safe' };
  }
  const { hostname, port, protocol } = options.url;
  const place = `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
  const proxyStatus = options.proxy === null ? undefined : readProxyStatus(error);
  if (options.proxy !== null && proxyStatus !== undefined) {
    const refusal = explainProxyRefusal(proxyStatus, options.proxy, place);
    return { error: refusal, repeat: proxyStatus < 500 ? 'never' : 'always' };
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    const message = `No complete answer from ${place} to ${options.what} within ${formatDuration(options.attemptTimeoutMs)}.`;
    return { error: new NetworkError(message), repeat: 'if-safe' };
  }
  const code = readProperty(error, 'code');
  const message = `No answer from ${place} to ${options.what}: ${describeCause(error, code)}.`;
  if (isTlsCode(code)) return { error: new NetworkError(message, { cause: error, hint: tlsHint }), repeat: 'never' };
  return {
    error: new NetworkError(message, { cause: error }),
    repeat: wasNeverSent(error, code) ? 'always' : 'if-safe',
  };
}

const notThisServiceHint = 'Something between here and the service may have answered in its place; check the base URL.';
const tlsHint =
  'Certificates are always checked. Where a proxy signs its own, give its authority in NODE_EXTRA_CA_CERTS.';

function describeCause(error: unknown, code: string | undefined): string {
  const description = describeError(error);
  return code === undefined || description.includes(code) ? description : `${code}, ${description}`;
}

/** OpenSSL's and Node's own codes for handshakes and certificates that failed: waiting does not mend them. */
function isTlsCode(code: string | undefined): boolean {
  return /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_|EPROTO|UND_ERR_PRX_TLS)/.test(
    code ?? '',
  );
}

const connectCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_PRX_CONN']);

/** Whether it broke before a connection stood, so that the peer cannot have seen the request. */
function wasNeverSent(error: unknown, code: string | undefined): boolean {
  const syscall = readProperty(error, 'syscall');
  return syscall === 'connect' || syscall === 'getaddrinfo' || connectCodes.has(code ?? '');
}

function readProperty(error: unknown, name: 'code' | 'syscall'): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
}

/** The same error with one more piece of advice. */
export function addHint(error: AttemptFailure['error'], advice: string): AttemptFailure['error'] {
  const hint = error.hint === undefined ? advice : `${error.hint} ${advice}`;
  const { message, cause } = error;
  if (error instanceof ServiceError) {
    const { code, status, details, retryAfterMs } = error;
    return new ServiceError(message, { code, status, details, retryAfterMs, hint, cause });
  }
  if (error instanceof NetworkError) return new NetworkError(message, { hint, cause });
  if (error instanceof ConfigurationError) return new ConfigurationError(error.issues, { hint, cause });
  return new ProtocolError(message, { hint, cause, ...(error.path === undefined ? {} : { path: error.path }) });
}
