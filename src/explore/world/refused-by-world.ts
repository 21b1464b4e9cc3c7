import type { Observation } from '../exploration.ts';

/** Messages of failures that the sandbox of a world causes, and not the server. */
const limits: ReadonlyArray<{ pattern: RegExp; reason: string }> = [
  {
    pattern:
      /\b(?:ENOTFOUND|ECONNREFUSED|ENETUNREACH|EAI_AGAIN|EHOSTUNREACH)\b|getaddrinfo|fetch failed|network is unreachable|name resolution|failed to establish a new connection|no address associated|connection (?:refused|error)|connect error/i,
    reason: 'it needs the network, which worlds have not',
  },
  {
    pattern: /\b(?:EROFS|EACCES|EPERM)\b|read-only file system|permission denied|operation not permitted/i,
    reason: 'it writes outside of the workspace, which worlds do not allow',
  },
];

/** Checks if a reason for what was not explored is a limit of the world. */
export const isLimitOfWorld = (reason: string): boolean => limits.some((limit) => limit.reason === reason);

/** Explains why the world, and not the server, is the reason for an error; null if nothing says so. */
export function explainRefusalByWorld({ outcome }: Pick<Observation, 'outcome'>): string | null {
  const text =
    outcome.kind === 'error' ? outcome.message : outcome.kind === 'result' ? JSON.stringify(outcome.result) : '';
  const isFailure = outcome.kind === 'error' || (outcome.kind === 'result' && (outcome.isError || text.length < 2000));
  return isFailure ? (limits.find(({ pattern }) => pattern.test(text))?.reason ?? null) : null;
}
