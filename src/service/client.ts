import { CancelledError, ProtocolError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { createPacer, type Pacer, type Priority } from '../base/pacing.ts';
import { createRedactor, type Secret } from '../base/redaction.ts';
import type { Clock, Deadline } from '../base/time.ts';
import { generator } from '../base/version.ts';
import { type AttemptLimits, attemptRequest, type AttemptRequest, parseJsonAnswer } from '../http/attempt.ts';
import { openRoute } from '../http/dispatcher.ts';
import type { FailedAnswer } from '../http/failed-answer.ts';
import { listProxySecrets, type ProxySettings } from '../http/proxy.ts';
import { type AttemptOutcome, createRetryQuota, retryRequest } from '../http/retry.ts';
import { buildUrl, parseApiKey, parseBaseUrl } from '../http/url.ts';
import { explainRefusal, fewAttempts, readServiceFailure } from './service-failure.ts';
import type { ServiceProfile } from './profile.ts';

/** A connection to one service with one key. The functions in this folder take it as their first argument. */
export interface ServiceClient extends AsyncDisposable {
  readonly profile: ServiceProfile;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a random number in [0, 1) for the jitter of waits. */
  readonly random: () => number;
  /**
   * Calls the API and returns the parsed answer. Repeats attempts if that does no harm.
   *
   * @throws {ServiceError} when the service refuses
   * @throws {NetworkError} when no answer arrives
   * @throws {ProtocolError} when the answer does not match the operation
   * @throws {DeadlineError} when the deadline had passed before the first attempt
   * @throws {ConfigurationError} when a proxy requires other credentials, or the service refuses a call of the setup
   */
  call<T>(call: ServiceCall<T>): Promise<T>;
}

/** Options that every operation accepts in addition to its own parameters. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Limits the call further than the client's deadline. No attempt and no wait exceeds it. */
  deadline?: Deadline | undefined;
}

export interface ServiceCall<T> extends CallOptions {
  method: AttemptRequest['method'];
  /** The segments below the base URL, not yet encoded. */
  path: readonly string[];
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: object;
  /** Secrets in the body, to redact from messages of the service. */
  secrets?: readonly Secret[];
  /** Makes the service answer a repeated request with the first result, so that the client may send it again. */
  idempotencyKey?: string | undefined;
  /** True if calling it twice has the same effect as calling it once. GET and DELETE are always repeatable (RFC 9110 §9.2.2). */
  isRepeatable?: boolean;
  /** True if the service connects to MCP servers before it answers, which takes longer. */
  isSlow?: boolean;
  /** True if the gate has not set anything up yet, so that a permanent refusal is the user's to fix. */
  isSetup?: boolean;
  /** The priority among requests with the same key. Default: low. */
  priority?: Priority;
  /** Parses the answer. Some operations put the cursor of the next page into the headers, which are not redacted. */
  parse: (answer: unknown, headers: AnswerHeaders) => T;
}

/** The headers of an answer, by lower-case name. */
export type AnswerHeaders = FailedAnswer['headers'];

export interface ServiceClientOptions {
  /** Ends in the API's version, such as `https://host/api/v1`. Plain http is accepted only for loopback hosts. */
  baseUrl: string;
  apiKey: Secret;
  profile: ServiceProfile;
  clock: Clock;
  logger: Logger;
  /** Spreads the attempts of all calls over time. Default: the pace of the profile. */
  pacer?: Pacer;
  /** Returns a random number in [0, 1) for the jitter of waits. */
  random?: () => number;
  /** Aborts every call in progress. */
  signal?: AbortSignal | undefined;
  deadline?: Deadline | undefined;
  /** The proxies to use. Default: none, whatever the environment says. */
  proxy?: ProxySettings | undefined;
  /** Overrides limits of an attempt. */
  limits?: Partial<AttemptLimits>;
  /** The most attempts of one call. The default survives a service that is unavailable for half a minute. */
  maxAttempts?: number;
}

const normalLimits: AttemptLimits = { headersTimeoutMs: 30_000, attemptTimeoutMs: 60_000, maxBytes: 16 * 2 ** 20 };
const slowLimits: AttemptLimits = { ...normalLimits, headersTimeoutMs: 120_000, attemptTimeoutMs: 120_000 };

/** With the growing pauses between them, enough for a service that is unavailable for half a minute. */
const normalAttempts = 10;
/** Fewer, because each attempt may take minutes. */
const slowAttempts = 5;
/** The most repeated attempts of all calls together that fail in a row. */
const retriesPerClient = 25;

/**
 * Opens a client. It sends nothing before the first call. Disposing it aborts the calls in progress and closes its connections.
 *
 * @throws {ConfigurationError} when the base URL or the key is invalid
 */
export function openServiceClient(options: ServiceClientOptions): ServiceClient {
  const { profile, clock, logger, random = Math.random } = options;
  const baseUrl = parseBaseUrl(options.baseUrl);
  const authorization = `Bearer ${parseApiKey(options.apiKey)}`;
  const pacer = options.pacer ?? (profile.pacing ? createPacer(clock, profile.pacing, options.random) : undefined);
  const quota = createRetryQuota(retriesPerClient);
  const secrets = [options.apiKey, ...(options.proxy === undefined ? [] : listProxySecrets(options.proxy))];
  const redactor = createRedactor(secrets);
  const closing = new AbortController();
  const route = openRoute(baseUrl, { proxy: options.proxy, signal: closing.signal });

  return {
    profile,
    clock,
    logger,
    random,
    call: async <T>(call: ServiceCall<T>) => {
      const url = buildUrl(baseUrl, call.path, call.query);
      const headers = { authorization, ...buildHeaders(call, profile) };
      const body = call.body === undefined ? undefined : JSON.stringify(call.body);
      const limits = { ...(call.isSlow ? slowLimits : normalLimits), ...options.limits };
      const callRedactor = call.secrets === undefined ? redactor : createRedactor([...secrets, ...call.secrets]);
      const signal = AbortSignal.any([closing.signal, options.signal, call.signal].filter(isPresent));
      const deadlines = [options.deadline, call.deadline].filter(isPresent);

      const attemptOnce = async (remainingMs: number): Promise<AttemptOutcome<T>> => {
        const attemptTimeoutMs = Math.min(limits.attemptTimeoutMs, remainingMs);
        const attempt = { method: call.method, url, headers, body };
        const options = {
          limits: { ...limits, attemptTimeoutMs },
          redactor: callRedactor,
          signal,
          readFailure: (answer: FailedAnswer, what: string) =>
            readServiceFailure(answer, what, profile.serverUnreachableHint),
          parseAnswer: (text: string, contentType: string | undefined, headers: AnswerHeaders) => ({
            content: parseJsonAnswer(text, contentType),
            headers,
          }),
        };
        const outcome = await attemptRequest(route, attempt, options);
        // Parses outside of the attempt, so that a refusal inside of a successful answer is not treated as a failure of the transport.
        if (outcome.ok) return parseOutcome(outcome.answer, call);
        return call.isSetup ? { ...outcome, error: explainRefusal(outcome) } : outcome;
      };
      return await retryRequest(attemptOnce, {
        isSafe: isSafeToRepeat(call),
        maxAttempts: options.maxAttempts ?? (call.isSlow ? slowAttempts : normalAttempts),
        priority: call.priority,
        clock,
        pacer,
        quota,
        random,
        logger,
        signal,
        deadlines,
      });
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort(new CancelledError('The connection to the service was closed.'));
      await route.dispatcher.destroy();
    },
  };
}

function buildHeaders<T>({ body, idempotencyKey }: ServiceCall<T>, profile: ServiceProfile): Record<string, string> {
  return {
    'user-agent': `${generator.name}/${generator.version}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    // Sends both names, because each service reads one of them, whatever its documentation says.
    ...(idempotencyKey === undefined
      ? {}
      : { 'idempotency-key': idempotencyKey, [`${profile.headerPrefix}idempotency-key`]: idempotencyKey }),
  };
}

/** Parses an answer. During a deployment, a service may briefly answer in another shape, so reads are repeated and writes are not. */
function parseOutcome<T>(
  { content, headers }: { content: unknown; headers: AnswerHeaders },
  { parse, method }: ServiceCall<T>,
): AttemptOutcome<T> {
  try {
    return { ok: true, answer: parse(content, headers) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { ok: false, error, repeat: 'if-safe', maxAttempts: method === 'GET' ? fewAttempts : 1 };
  }
}

function isSafeToRepeat<T>({ method, idempotencyKey, isRepeatable = false }: ServiceCall<T>): boolean {
  return method === 'GET' || method === 'DELETE' || idempotencyKey !== undefined || isRepeatable;
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}
