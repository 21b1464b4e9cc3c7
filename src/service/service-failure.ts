import { ConfigurationError, type GateError, ServiceError } from '../base/errors.ts';
import { adviseOnStatus, type ErrorEnvelope, type FailedAnswer, readFailedAnswer } from '../http/failed-answer.ts';
import type { AttemptFailure } from '../http/retry.ts';

/** Fewer attempts, because an unreachable server or an answer of another shape rarely recovers within moments. */
export const fewAttempts = 3;

/** Marks an exhausted plan in answers of routes without an error envelope. Repeating such a request does not help. */
const usedUp = /billing_limit_reached|maxEvalIterationsPerMonth/;

/** Turns a failed answer of the eval service into an error. `what` names the request: `GET /me`. */
export function readServiceFailure(answer: FailedAnswer, what: string, serverUnreachableHint?: string): AttemptFailure {
  const isUsedUp = ({ details }: Pick<ErrorEnvelope, 'details'>) =>
    details?.['gateKey'] !== undefined || usedUp.test(answer.text);
  const failure = readFailedAnswer(answer, what, (status, envelope) =>
    envelope.code === 'SERVER_UNREACHABLE'
      ? serverUnreachableHint
      : adviseOn(status, envelope, { isUsedUp: isUsedUp(envelope) }),
  );
  const { error, retryAfterMs } = failure;
  if (!(error instanceof ServiceError)) return failure;
  if (error.status === 429 && (isUsedUp(error) || isQueueDetails(error.details))) {
    return { error, retryAfterMs, repeat: 'never' };
  }
  // Safe to repeat, because the service connects to the server before it carries anything out.
  if (error.code === 'SERVER_UNREACHABLE') return { error, retryAfterMs, repeat: 'always', maxAttempts: fewAttempts };
  return failure;
}

/**
 * Turns a refusal that every attempt would get, from the service or a proxy, into a configuration error. An exhausted plan is excluded,
 * because it resets at some time.
 */
export function explainRefusal({ error, repeat }: AttemptFailure): GateError {
  const isUsedUp = error instanceof ServiceError && error.status === 429;
  if (repeat !== 'never' || isUsedUp || error instanceof ConfigurationError) return error;
  const { message, hint, cause = error } = error;
  return new ConfigurationError([{ code: 'refused-by-service', message }], {
    ...(hint === undefined ? {} : { hint }),
    cause: error instanceof ServiceError ? error : cause,
  });
}

/** Checks if a service refused a run because too many runs are in progress. Such a queue moves within minutes. */
export function isQueueRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 429 && isQueueDetails(error.details);
}

function isQueueDetails(details: ErrorEnvelope['details'] | ServiceError['details']): boolean {
  return details?.['reason'] === 'CONCURRENT_RUN_LIMIT';
}

function adviseOn(
  status: number,
  { code, details }: ErrorEnvelope,
  { isUsedUp }: { isUsedUp: boolean },
): string | undefined {
  if (code === 'OAUTH_REQUIRED') return 'The MCP server asks for OAuth; connect it in the project first.';
  if (isUsedUp) return "The organization's plan is used up; raise it or wait for its reset.";
  if (isQueueDetails(details)) {
    return 'As many runs as the organization may have are in progress; run the job again when they are done.';
  }
  if (status === 401) return 'Check that the API key is the whole key, belongs to this service and was not revoked.';
  if (status === 403) return 'The API key may lack access to the project, or the MCP server refused its credentials.';
  if (status === 404) return 'Check the ids; a project that the key has no access to is also answered with 404.';
  if (status === 429) return 'The API key is used by too much at once; run fewer jobs in parallel.';
  return adviseOnStatus(status);
}
