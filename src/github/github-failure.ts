import { z } from 'zod';
import { describeError, GitHubError, NetworkError } from '../base/errors.ts';
import { clipText, endSentence } from '../base/text.ts';
import { type Clock, formatDuration } from '../base/time.ts';
import { type AttemptFailure, parseRetryAfter } from '../http/retry.ts';

/** A failed request, without parts that must not be printed. */
interface FailedRequest {
  /** Null if no answer arrived. */
  status: number | null;
  headers: Readonly<Record<string, string | undefined>>;
  /** GitHub's message, or the reason why no answer arrived. */
  message: string;
  cause: unknown;
}

const requestErrorSchema = z.object({
  response: z.object({
    status: z.number(),
    headers: z.record(z.string(), z.union([z.string(), z.number()]).transform(String).optional()),
    data: z.object({ message: z.string(), errors: z.array(z.unknown()).catch([]) }).catch({ message: '', errors: [] }),
  }),
});

const detailSchema = z.object({ message: z.string() });

/** GitHub writes sentences; a longer message is a page of a proxy in between. */
const longestMessage = 300;

/** Reads the error of the client. The client's own message holds the address of the documentation, and may hold a page of HTML. */
function readFailedRequest(error: unknown): FailedRequest {
  const parsed = requestErrorSchema.safeParse(error);
  if (!parsed.success) {
    // Neither the client's error nor fetch's `TypeError: fetch failed` names the reason; the cause below them does.
    const cause = readCause(readCause(error));
    return { status: null, headers: {}, message: clipText(describeError(cause), longestMessage), cause };
  }
  const { status, headers, data } = parsed.data.response;
  const details = data.errors.flatMap((detail) => detailSchema.safeParse(detail).data?.message ?? []);
  const message = [data.message, ...details].join(': ');
  return { status, headers, message: clipText(message, longestMessage), cause: undefined };
}

function readCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

/**
 * Turns an error of the client into a failed attempt. `what` names the request: `GET /repos/owner/name/pulls/7`. `isSafe` says that the
 * request has the same effect when it is repeated, so that a lost answer does not matter.
 */
export function readGitHubFailure(
  error: unknown,
  options: { what: string; host: string; isSafe: boolean; clock: Clock },
): AttemptFailure {
  const { what, host, isSafe, clock } = options;
  const failed = readFailedRequest(error);
  const { status, message, cause } = failed;
  if (status === null) {
    const text = `No answer from ${host} to ${what}: ${endSentence(message)}`;
    return { error: new NetworkError(text, { cause }), repeat: isSafe ? 'always' : 'if-safe' };
  }
  const retryAfterMs = readLimitWaitMs(failed, clock);
  const wait = retryAfterMs === undefined ? '' : ` It asks to wait ${formatDuration(retryAfterMs)}.`;
  const said = message === '' ? 'no reason was given' : message;
  const text = `GitHub answered ${status} to ${what}: ${endSentence(said)}${wait}`;
  const failure = { error: new GitHubError(text, { status, retryAfterMs }), retryAfterMs };
  if (retryAfterMs !== undefined) return { ...failure, repeat: 'always' };
  return { ...failure, repeat: status < 500 ? 'never' : isSafe ? 'always' : 'if-safe' };
}

/** GitHub requires this wait if a limit is exceeded and no header names a wait ("Rate limits for the REST API"). */
const secondaryLimitWaitMs = 60_000;

/**
 * Reads how long GitHub asks to wait; undefined if no limit caused the failure. GitHub answers 403 or 429 for a limit, before it carries
 * anything out: with `retry-after`, with no requests remaining until `x-ratelimit-reset` (seconds since 1970), or with a message alone.
 */
function readLimitWaitMs({ status, headers, message }: FailedRequest, clock: Clock): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const retryAfterMs = parseRetryAfter(headers['retry-after'], headers['date']);
  if (retryAfterMs !== undefined) return retryAfterMs;
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && reset > 0) {
    const nowMs = Date.parse(headers['date'] ?? '') || clock.now();
    return Math.max(1000, reset * 1000 - nowMs);
  }
  return status === 429 || /secondary rate limit|abuse detection/i.test(message) ? secondaryLimitWaitMs : undefined;
}
