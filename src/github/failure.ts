import { z } from 'zod';
import { clipText, endSentence } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { describeError, GitHubError, NetworkError } from '../base/errors.ts';

/** A failed request, without anything that must not be printed. */
export interface FailedRequest {
  /** Null where no answer arrived. */
  status: number | null;
  headers: Readonly<Record<string, string | undefined>>;
  /** What GitHub said, or what was in the way. */
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

/** Reads what the client threw. Its own message holds the address of the documentation, and may hold a page of HTML. */
export function readFailedRequest(error: unknown): FailedRequest {
  const parsed = requestErrorSchema.safeParse(error);
  if (!parsed.success) {
    // Neither the client's error nor fetch's `TypeError: fetch failed` says anything itself.
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

/** Makes an error of it. `what` names the request: `GET /repos/owner/name/pulls/7`. */
export function explainFailure(
  { status, message, cause }: FailedRequest,
  options: { what: string; host: string; isSafe: boolean; limitWaitMs: number | undefined },
): GitHubError | NetworkError {
  const { what, host, isSafe, limitWaitMs } = options;
  if (status === null) {
    const error = new NetworkError(`No answer from ${host} to ${what}: ${endSentence(message)}`, { cause });
    error.mayHaveHappened = !isSafe;
    return error;
  }
  const wait = limitWaitMs === undefined ? '' : ` It asks to wait ${formatDuration(limitWaitMs)}.`;
  const said = message === '' ? 'no reason was given' : message;
  const text = `GitHub answered ${status} to ${what}: ${endSentence(said)}${wait}`;
  const error = new GitHubError(text, { status, retryAfterMs: limitWaitMs });
  error.mayHaveHappened = !isSafe && status >= 500;
  return error;
}
