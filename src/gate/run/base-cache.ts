import { createHmac, timingSafeEqual } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { describeError, readErrorCode } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import type { Logger } from '../../base/logger.ts';
import { replaceOutput } from '../../base/output-files.ts';
import type { Secret } from '../../base/redaction.ts';
import type { CaseOutline } from '../../model/results.ts';
import { runGit } from '../plan/git-checkout.ts';
import type { PlannedBase } from '../plan/plan-base.ts';

/** Increased when the meaning of the kept data changes; files of another version are not used. */
const cacheVersion = 1;

const cacheSchema = z.object({
  kind: z.literal('mcp-eval-ci base results'),
  version: z.literal(cacheVersion),
  commit: z.string(),
  server: z.string(),
  /** The cases of the base's own evals files, by suite; null if the files could not be read. */
  known: z.record(z.string(), z.array(z.string())).nullable(),
  results: z.array(
    z.object({
      suiteId: z.string(),
      caseId: z.string(),
      definitionHash: z.string(),
      model: z.string().nullable(),
      marks: z.string().regex(/^[pf]+$/),
    }),
  ),
});
type CacheFile = z.infer<typeof cacheSchema>;

/** The kept data, with the HMAC of its JSON if a key signs it (RFC 2104, with SHA-256). */
const signedSchema = cacheSchema.extend({
  signature: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});

function sign(file: CacheFile, secret: Secret): string {
  return createHmac('sha256', secret.reveal()).update(JSON.stringify(file)).digest('hex');
}

type CachedCase = Pick<CaseOutline, 'id' | 'definitionHash' | 'model'>;

/** The results of the base at one commit that earlier jobs have kept. */
export interface BaseCache {
  /** Finds the results of a case with its present definition, by round: `p` and `f`. Empty if there are none. */
  find(suiteId: string, testCase: CachedCase): string;
  /** Returns the cases of the base, by suite, as an earlier job has read them; undefined if no job has. */
  known(): CacheFile['known'] | undefined;
  setKnown(known: CacheFile['known']): void;
  /** Keeps the results of a case up to the first round without a result. */
  add(suiteId: string, testCase: CachedCase, marks: string): void;
  /** Writes what was added. Warns if the file cannot be written. */
  save(): Promise<void>;
}

/** For a base without kept results. */
const noCache: BaseCache = {
  find: () => '',
  known: () => undefined,
  setKnown: () => {},
  add: () => {},
  save: async () => {},
};

/**
 * Opens the results of the base in a directory: one file for each commit and way to start its server. Ignores, with a warning, a file that
 * cannot be read or that something else has written.
 */
export async function openBaseCache(
  {
    cachePath,
    checkout,
    cacheKey,
    cacheSecret,
  }: Pick<PlannedBase, 'cachePath' | 'checkout' | 'cacheKey' | 'cacheSecret'>,
  logger: Logger,
): Promise<BaseCache> {
  if (cachePath === null || checkout === null) return noCache;
  const { commit } = checkout;
  const path = join(cachePath, `${commit}-${cacheKey}.json`);
  const kept = await readCache(path, { commit, server: cacheKey, secret: cacheSecret }, logger);
  const keyOf = (suiteId: string, { id, definitionHash, model }: CachedCase) =>
    JSON.stringify([suiteId, id, definitionHash, model]);
  const results = new Map(
    kept?.results.map((each) => [keyOf(each.suiteId, { ...each, id: each.caseId }), each] as const),
  );
  let known = kept?.known;
  let hasChanged = false;
  return {
    find: (suiteId, testCase) => results.get(keyOf(suiteId, testCase))?.marks ?? '',
    known: () => known,
    setKnown: (next) => {
      known = next;
      hasChanged = true;
    },
    add: (suiteId, testCase, marks) => {
      const [usable = ''] = /^[pf]*/.exec(marks) ?? [];
      const { id: caseId, definitionHash, model } = testCase;
      const key = keyOf(suiteId, testCase);
      if (definitionHash === null || usable.length <= (results.get(key)?.marks.length ?? 0)) return;
      results.set(key, { suiteId, caseId, definitionHash, model, marks: usable });
      hasChanged = true;
    },
    save: async () => {
      if (!hasChanged) return;
      const file: CacheFile = {
        kind: 'mcp-eval-ci base results',
        version: cacheVersion,
        commit,
        server: cacheKey,
        known: known ?? null,
        results: [...results.values()],
      };
      const signed = cacheSecret === null ? file : { ...file, signature: sign(file, cacheSecret) };
      try {
        // Replaces the file atomically: another job may read it at the same time.
        replaceOutput(path, `${JSON.stringify(signed)}\n`, null);
      } catch (error) {
        logger.warning(
          `Could not keep the results of the base in ${path}: ${describeError(error)}. The verdict stands.`,
        );
      }
    },
  };
}

async function readCache(
  path: string,
  { commit, server, secret }: Pick<CacheFile, 'commit' | 'server'> & { secret: Secret | null },
  logger: Logger,
): Promise<CacheFile | null> {
  let text: string;
  try {
    if (await isTracked(path)) {
      logger.warning(`${path} is a file of the repository and no cache, so the base runs again. Remove it from git.`);
      return null;
    }
    text = await readTextFile(path);
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null;
    logger.warning(
      `The results of the base in ${path} cannot be read, so the base runs again: ${describeError(error)}.`,
    );
    return null;
  }
  const kept = parseCache(text);
  if (kept?.file.commit !== commit || kept.file.server !== server) {
    logger.warning(`${path} holds no results of this base in a version that this gate reads, so the base runs again.`);
    return null;
  }
  if (secret !== null && !isSigned(kept, secret)) {
    logger.warning(`${path} is not signed with \`base-cache-key\`, so the base runs again.`);
    return null;
  }
  return kept.file;
}

/** Checks if git tracks a file, which a change could then bring along. Resolves links, which could give the file another name. */
export async function isTracked(path: string): Promise<boolean> {
  const real = await realpath(path);
  const found = await runGit(['ls-files', '-z', '--', basename(real)], dirname(real)).catch(() => '');
  return found !== '';
}

function isSigned({ file, signature }: { file: CacheFile; signature: string }, secret: Secret): boolean {
  const expected = Buffer.from(sign(file, secret));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function parseCache(text: string): { file: CacheFile; signature: string } | null {
  try {
    const { signature = '', ...file } = signedSchema.parse(JSON.parse(text));
    return { file, signature };
  } catch {
    return null;
  }
}
