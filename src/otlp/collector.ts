import { z } from 'zod';
import type { Clock, Deadline } from '../base/time.ts';
import { CancelledError, ConfigurationError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { hasMoreThanPath, isProtected } from '../http/url.ts';
import type { ProxySettings } from '../http/proxy.ts';
import { createRedactor, type Secret } from '../base/redaction.ts';
import { createRetryQuota, retryRequest } from '../http/retry.ts';
import { generator } from '../base/version.ts';
import { type AttemptLimits, attemptRequest } from '../http/attempt.ts';
import { parseJson } from '../http/body.ts';
import { openRoute } from '../http/dispatcher.ts';

/** The address of an OpenTelemetry collector, with the credentials for it. */
export interface CollectorAddress {
  /** Ends in `/v1/traces`. */
  url: URL;
  headers: ReadonlyMap<string, Secret>;
  proxy: ProxySettings;
}

/** The spans that the collector rejected from a request, and why; 0 and an empty reason if it accepted all. */
export interface PartialSuccess {
  rejectedSpans: number;
  reason: string;
}

/** A connection to an OpenTelemetry collector that takes OTLP over HTTP, as JSON. */
export interface Collector extends AsyncDisposable {
  /**
   * Sends one export request, and returns what the collector rejected of it. It repeats the request if no answer arrives: a span has the
   * same ids each time.
   *
   * @throws {ServiceError} if the collector refuses
   * @throws {NetworkError} if no answer arrives
   */
  exportTraces(body: string): Promise<PartialSuccess>;
}

export interface CollectorOptions extends CollectorAddress {
  clock: Clock;
  logger: Logger;
  /** Bounds every attempt and every wait. */
  deadline: Deadline;
  signal: AbortSignal;
  /** Draws in [0, 1) for the jitter of waits. */
  random?: () => number;
}

const attemptLimits: AttemptLimits = { headersTimeoutMs: 10_000, attemptTimeoutMs: 10_000, maxBytes: 2 ** 20 };
const maxAttempts = 5;

/** The JSON form of protobuf writes 64-bit integers as text; some writers send numbers. */
const answerSchema = z.object({
  partialSuccess: z.object({ rejectedSpans: z.coerce.number().catch(0), errorMessage: z.string().catch('') }),
});

/**
 * Reads the address of a collector, and adds `/v1/traces` unless the URL is whole (OpenTelemetry Protocol 1.x, "OTLP/HTTP Request").
 * Messages never quote it, since it may hold credentials.
 *
 * @throws {ConfigurationError} unless it is http or https, and https if there are headers, which others could read on the way
 */
export function parseCollectorUrl({
  endpoint,
  variable,
  isWhole,
  headers,
}: {
  endpoint: string;
  /** The environment variable that holds the address, for messages. */
  variable: string;
  /** True if this is the whole URL; then no path is added. */
  isWhole: boolean;
  headers: ReadonlyMap<string, Secret>;
}): URL {
  const refuse = (code: string, message: string) => new ConfigurationError([{ input: variable, code, message }]);
  const url = URL.parse(endpoint);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw refuse('bad-url', 'is not an http or https URL; write one such as https://host:4318');
  }
  if (hasMoreThanPath(url)) {
    const message =
      'has a user, password, query or fragment; leave them out, and give credentials in OTEL_EXPORTER_OTLP_HEADERS';
    throw refuse('bad-url', message);
  }
  if (headers.size > 0 && !isProtected(url)) {
    const message =
      'is plain http, over which anyone on the way could read the headers of OTEL_EXPORTER_OTLP_HEADERS; write https';
    throw refuse('plain-http', message);
  }
  for (const value of headers.values()) {
    // HTTP clients quote a header that they refuse.
    if (/^[\t\x20-\x7e]+$/.test(value.reveal())) continue;
    throw refuse('bad-header', 'has headers with a character that no header can have');
  }
  if (isWhole) return url;
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/v1\/traces$/, '')}/v1/traces`;
  return url;
}

/** Opens a connection. It sends nothing before the first export; disposing it ends the requests under way. */
export function openCollector(options: CollectorOptions): Collector {
  const { url, proxy, clock, logger, deadline, random = Math.random } = options;
  const closing = new AbortController();
  const route = openRoute(url, { proxy, signal: closing.signal });
  const quota = createRetryQuota(maxAttempts);
  const redactor = createRedactor([...options.headers.values()]);
  const headers = {
    ...Object.fromEntries([...options.headers].map(([name, value]) => [name.toLowerCase(), value.reveal()])),
    'content-type': 'application/json',
    'user-agent': `${generator.name}/${generator.version}`,
  };
  const signal = AbortSignal.any([closing.signal, options.signal]);

  const attemptOnce = async (body: string, remainingMs: number) => {
    const attemptTimeoutMs = Math.min(attemptLimits.attemptTimeoutMs, remainingMs);
    const limits = { ...attemptLimits, attemptTimeoutMs };
    return await attemptRequest(
      route,
      { method: 'POST', url, headers, body },
      { limits, redactor, signal, parseAnswer: (text) => readPartialSuccess(redactor.redact(text)) },
    );
  };

  return {
    exportTraces: async (body) =>
      await retryRequest((remainingMs) => attemptOnce(body, remainingMs), {
        isSafe: true,
        maxAttempts,
        clock,
        quota,
        random,
        logger,
        signal,
        deadlines: [deadline],
      }),
    [Symbol.asyncDispose]: async () => {
      closing.abort(new CancelledError('The connection to the collector was closed.'));
      await route.dispatcher.destroy();
    },
  };
}

/** A success status means that the collector accepted the request, even if its body is unreadable. */
function readPartialSuccess(text: string): PartialSuccess {
  try {
    const { rejectedSpans, errorMessage } = answerSchema.parse(parseJson(text)).partialSuccess;
    return { rejectedSpans, reason: errorMessage };
  } catch {
    return { rejectedSpans: 0, reason: '' };
  }
}
