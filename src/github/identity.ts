import { z } from 'zod';
import { GateError, GitHubError } from '../base/errors.ts';
import type { GitHubClient } from './github-client.ts';

/** The user or app that the token belongs to. */
export interface Identity {
  login: string;
  /** Null if GitHub did not return it. */
  id: number | null;
}

const viewerSchema = z.object({ viewer: z.object({ login: z.string(), databaseId: z.number().nullish() }) });

/** The account of the token that GitHub gives to a job. */
const actionsBot: Identity = { login: 'github-actions[bot]', id: null };

/**
 * Reads the account of the token. GraphQL answers for every kind of token, while `GET /user` refuses those of apps, the job's own
 * included. If GitHub refuses, the token is assumed to be the job's own.
 *
 * @throws {NetworkError} if no answer arrives
 * @throws {GitHubError} if GitHub has an internal problem, or a limit is exceeded
 */
export async function getIdentity({ octokit }: GitHubClient): Promise<Identity> {
  try {
    const { viewer } = viewerSchema.parse(await octokit.graphql('query { viewer { login databaseId } }'));
    return { login: viewer.login, id: viewer.databaseId ?? null };
  } catch (error) {
    if (isPassing(error)) throw error;
    return actionsBot;
  }
}

/** Checks if a later answer may differ; to read it as a refusal would be a guess at the account. */
function isPassing(error: unknown): boolean {
  if (error instanceof GitHubError) return error.status >= 500 || error.retryAfterMs !== undefined;
  return error instanceof GateError;
}

/** Checks if an author is the account of the token. Compares the id, since any user may take a free login. */
export function isSamePerson(identity: Identity, author: { id: number; login: string } | null): boolean {
  if (author === null) return false;
  return identity.id === null ? author.login === identity.login : author.id === identity.id;
}
