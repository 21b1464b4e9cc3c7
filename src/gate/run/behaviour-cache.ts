import { createHmac, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { describeError, readErrorCode } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import type { Logger } from '../../base/logger.ts';
import { replaceOutput } from '../../base/output-files.ts';
import type { Secret } from '../../base/redaction.ts';
import { isTracked } from './base-cache.ts';
import type { PlannedBase } from '../plan/plan-base.ts';

/** The requests that an earlier job has found on the base, as text. They hold no answer: a difference counts after a live base has shown it. */
export interface RequestCache {
  read(): Promise<string | null>;
  /** Warns if the file cannot be written. */
  save(corpus: string): void;
}

const fileSchema = z.object({
  kind: z.literal('mcp-eval-ci base requests'),
  corpus: z.string(),
  /** The HMAC of the corpus and of the name of its file (RFC 2104, with SHA-256); absent without a key. */
  signature: z.string().optional(),
});

/** Opens the requests that are kept for a base, in a file of its own next to the results of the base. */
export function openRequestCache(
  { cachePath, cacheKey, cacheSecret }: Pick<PlannedBase, 'cachePath' | 'cacheKey' | 'cacheSecret'>,
  version: string | null,
  logger: Logger,
): RequestCache {
  if (cachePath === null || version === null) return { read: async () => null, save: () => {} };
  const name = `${version.replaceAll(/[^\w.-]/g, '_')}-${cacheKey}.requests.json`;
  const path = join(cachePath, name);
  const sign = (corpus: string, secret: Secret) =>
    createHmac('sha256', secret.reveal()).update(`${name}\n${corpus}`).digest();
  return {
    read: async () => {
      try {
        if (await isTracked(path)) {
          logger.warning(
            `${path} is a file of the repository and no cache, so the base is explored again. Remove it from git.`,
          );
          return null;
        }
        const { corpus, signature = '' } = fileSchema.parse(JSON.parse(await readTextFile(path)));
        if (cacheSecret === null) return corpus;
        const [expected, given] = [sign(corpus, cacheSecret), Buffer.from(signature, 'hex')];
        if (given.length === expected.length && timingSafeEqual(given, expected)) return corpus;
        logger.warning(`${path} is not signed with \`base-cache-key\`, so the base is explored again.`);
      } catch (error) {
        if (readErrorCode(error) !== 'ENOENT') {
          logger.warning(
            `The requests in ${path} cannot be read, so the base is explored again: ${describeError(error)}.`,
          );
        }
      }
      return null;
    },
    save: (corpus) => {
      const signature = cacheSecret === null ? {} : { signature: sign(corpus, cacheSecret).toString('hex') };
      try {
        replaceOutput(path, `${JSON.stringify({ kind: 'mcp-eval-ci base requests', corpus, ...signature })}\n`, null);
      } catch (error) {
        logger.warning(`Could not keep the requests in ${path}: ${describeError(error)}. The verdict stands.`);
      }
    },
  };
}
