import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { tryParseJson } from '../../../src/base/json.ts';
import type { Clock } from '../../../src/base/time.ts';
import { openArtifacts } from './artifacts.ts';
import { ApiError, notFound } from './envelope.ts';
import { createId } from '../../../src/base/ids.ts';
import type { Store } from './store/open-store.ts';

/** The time within which an upload must start. */
const lifetimeMs = 10 * 60_000;

/** The maximum size of one artifact, as in the API. */
export const maxArtifactBytes = 5 * 1024 * 1024;

/** Accepts artifacts from every caller with the token of an upload. */
export interface Uploads {
  /** Makes the token for one artifact of a project. It is valid until the service stops. */
  grant(projectId: string): string;
  /**
   * Stores the bytes and returns the id of the artifact. The same bytes may be sent again, for example after a lost answer.
   *
   * @throws {ApiError} FORBIDDEN for an unknown or expired token, CONFLICT for a token that was used for other bytes.
   */
  receive(token: string, artifact: { bytes: Buffer; contentType: string }): string;
}

export function createUploads({ store, clock }: { store: Store; clock: Clock }): Uploads {
  const secret = randomBytes(32);
  const artifacts = openArtifacts(store);
  const sign = (text: string) => createHmac('sha256', secret).update(text).digest();

  const readToken = (token: string): { projectId: string; id: string; expiresAt: number } => {
    const [text = '', signature = ''] = token.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = sign(text);
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    const read = isOurs ? tryParseJson(Buffer.from(text, 'base64url').toString()) : null;
    const [projectId, id, expiresAt]: unknown[] = Array.isArray(read) ? read : [];
    if (typeof projectId !== 'string' || typeof id !== 'string' || typeof expiresAt !== 'number') {
      throw new ApiError('FORBIDDEN', 'The upload URL is not valid; ask for a new one.');
    }
    return { projectId, id, expiresAt };
  };

  return {
    grant: (projectId) => {
      const text = JSON.stringify([projectId, createId('art'), clock.now() + lifetimeMs]);
      const payload = Buffer.from(text).toString('base64url');
      return `${payload}.${sign(payload).toString('base64url')}`;
    },
    receive: (token, { bytes, contentType }) => {
      const { projectId, id, expiresAt } = readToken(token);
      const now = clock.now();
      if (now >= expiresAt) throw new ApiError('FORBIDDEN', 'The upload URL has expired; ask for a new one.');
      const digest = createHash('sha256').update(bytes).digest('hex');
      const existing = artifacts.get(projectId, id);
      if (existing !== undefined) {
        if (existing.content.digest === digest) return id;
        throw new ApiError('CONFLICT', 'The upload URL was used for another artifact; ask for a new one.');
      }
      // The project may have been deleted since the token was made.
      if (store.projects.get(projectId) === undefined) throw notFound('Project');
      artifacts.insert({ id, projectId, content: { contentType, digest, base64: bytes.toString('base64') }, now });
      return id;
    },
  };
}
