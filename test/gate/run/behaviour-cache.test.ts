import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { openRequestCache } from '../../../src/gate/run/behaviour-cache.ts';
import { createWorkspace } from '../../support/workspace.ts';

describe('openRequestCache', () => {
  const corpus = '{"version":1}\n';

  async function open(cachePath: string, key: string | null) {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warning: (message: string) => void warnings.push(message) };
    const cacheSecret = key === null ? null : new Secret(key);
    const cache = openRequestCache({ cachePath, cacheKey: 'abc', cacheSecret }, '1234567', logger);
    return { cache, warnings };
  }

  it('reads requests that were signed with the same key', async () => {
    await using workspace = await createWorkspace();
    const { cache, warnings } = await open(workspace.path, 'a long secret key');
    expect(await cache.read()).toBeNull();
    cache.save(corpus);
    expect(await cache.read()).toBe(corpus);
    expect(warnings).toEqual([]);
  });

  it('ignores requests with another signature, with none, or that were changed', async () => {
    await using workspace = await createWorkspace();
    (await open(workspace.path, 'a long secret key')).cache.save(corpus);
    const other = await open(workspace.path, 'another secret key');
    expect(await other.cache.read()).toBeNull();
    expect(other.warnings).toEqual([expect.stringContaining('is not signed with `base-cache-key`')]);

    const [name = ''] = await readdir(workspace.path);
    const path = join(workspace.path, name);
    await writeFile(path, (await readFile(path, 'utf8')).replace('version', 'revision'));
    const changed = await open(workspace.path, 'a long secret key');
    expect(await changed.cache.read()).toBeNull();
    expect(changed.warnings).toHaveLength(1);

    (await open(workspace.path, null)).cache.save(corpus);
    const unsigned = await open(workspace.path, 'a long secret key');
    expect(await unsigned.cache.read()).toBeNull();
    expect(unsigned.warnings).toHaveLength(1);
  });
});
