// Installs the peers that PyPI has, each in an environment of its own in the cache.
import { join } from 'node:path';
import { cacheDirectory, installPython, ServerProblem } from './servers.ts';

/** Gives the version that is pinned, or why it cannot be had. */
export async function installPeer(
  name: string,
  packages: readonly [string, ...string[]],
  pythons?: readonly string[],
): Promise<{ version: string } | { missing: string }> {
  try {
    await installPython(join(cacheDirectory, 'python', name), packages, pythons);
    const [, version = ''] = packages[0].split('==');
    return { version };
  } catch (error) {
    if (error instanceof ServerProblem) return { missing: error.message };
    throw error;
  }
}

export function findPeer(name: string): string {
  return join(cacheDirectory, 'python', name, 'bin', name);
}
