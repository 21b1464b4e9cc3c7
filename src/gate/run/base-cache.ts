import { join } from 'node:path';
import { z } from 'zod';
import { describeError } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import type { Logger } from '../../base/logger.ts';
import { replaceOutput } from '../../base/output-files.ts';
import type { CaseOutline } from '../../model/results.ts';
import type { PlannedBase } from '../plan/plan-base.ts';

/** Raised when what is kept changes its meaning; files of another version are not used. */
const cacheVersion = 1;

const cacheSchema = z.object({
  kind: z.literal('mcp-eval-ci base results'),
  version: z.literal(cacheVersion),
  commit: z.string(),
  server: z.string(),
  /** Of the base's own evals files, by suite; null where they could not be read. */
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

type CachedCase = Pick<CaseOutline, 'id' | 'definitionHash' | 'model'>;

/** What earlier jobs have run of the base at one commit. */
export interface BaseCache {
  /** The results of a case as it is defined now, by round: `p` and `f`. Empty where there are none. */
  find(suiteId: string, testCase: CachedCase): string;
  /** The cases that the base has, by suite, as an earlier job has read them; undefined where none has. */
  known(): CacheFile['known'] | undefined;
  setKnown(known: CacheFile['known']): void;
  /** Keeps the results of a case up to the first round without one. */
  add(suiteId: string, testCase: CachedCase, marks: string): void;
  /** Writes what was added. A file that cannot be written is warned about. */
  save(): Promise<void>;
}

/** For a base of which nothing is kept. */
const noCache: BaseCache = {
  find: () => '',
  known: () => undefined,
  setKnown: () => {},
  add: () => {},
  save: async () => {},
};

/**
 * Opens the results of the base in a directory: one file for each commit and way to start its server. A file that cannot be read, or that
 * something else has written, is ignored with a warning.
 */
export async function openBaseCache(
  { cachePath, checkout, cacheKey }: Pick<PlannedBase, 'cachePath' | 'checkout' | 'cacheKey'>,
  logger: Logger,
): Promise<BaseCache> {
  if (cachePath === null || checkout === null) return noCache;
  const { commit } = checkout;
  const path = join(cachePath, `${commit}-${cacheKey}.json`);
  const kept = await readCache(path, { commit, server: cacheKey }, logger);
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
      try {
        // Whole or not at all: another job may read it at the same time.
        replaceOutput(path, `${JSON.stringify(file)}\n`, null);
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
  { commit, server }: Pick<CacheFile, 'commit' | 'server'>,
  logger: Logger,
): Promise<CacheFile | null> {
  let text: string;
  try {
    text = await readTextFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    logger.warning(
      `The results of the base in ${path} cannot be read, so the base runs again: ${describeError(error)}.`,
    );
    return null;
  }
  const found = parseCache(text);
  if (found?.commit === commit && found.server === server) return found;
  logger.warning(`${path} holds no results of this base in a version that this gate reads, so the base runs again.`);
  return null;
}

function parseCache(text: string): CacheFile | null {
  try {
    return cacheSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
