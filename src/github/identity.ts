import { z } from 'zod';
import { GateError, GitHubError } from '../base/errors.ts';
import type { GitHubClient } from './client.ts';

/** The user or app that the token belongs to. */
export interface Identity {
  login: string;
  /** Null where GitHub did not tell. */
  id: number | null;
}

const viewerSchema = z.object({ viewer: z.object({ login: z.string(), databaseId: z.number().nullish() }) });

/** Who speaks with the token that GitHub gives a job. */
const actionsBot: Identity = { login: 'github-actions[bot]', id: null };

/**
 * Reads who the token speaks for. GraphQL answers for every kind of token, where `GET /user` refuses those of apps, the
 * job's own among them. Where it will not tell, it is taken for the job's own.
 *
 * @throws {NetworkError} when no answer arrives
 * @throws {GitHubError} when GitHub has a problem of its own, or a limit is exceeded
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

/** Whether the answer would be another one later; taking it for a refusal would be guessing who we are. */
function isPassing(error: unknown): boolean {
  if (error instanceof GitHubError) return error.status >= 500 || error.retryAfterMs !== undefined;
  return error instanceof GateError;
}

/** Whether an author is the one that the token speaks for. Compares the id, since any user may take a login that is free. */
export function isSamePerson(identity: Identity, author: { id: number; login: string } | null): boolean {
  if (author === null) return false;
  return identity.id === null ? author.login === identity.login : author.id === identity.id;
}
