// Installs the peers that npm has, each in a directory of its own in the cache.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './process.ts';
import { cacheDirectory } from './servers.ts';

/** Gives the version of the first package, or why it cannot be had. */
export async function installNpmPeer(
  name: string,
  packages: readonly [string, ...string[]],
): Promise<{ version: string } | { missing: string }> {
  const directory = findNpmPeer(name);
  const mark = join(directory, 'installed');
  const wanted = JSON.stringify(packages);
  const version = packages[0].split('@').at(-1) ?? '';
  if ((await readFile(mark, 'utf8').catch(() => null)) === wanted) return { version };
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const { code, stderr } = await runProgram(['npm', 'install', ...quiet, ...packages], { cwd: directory });
  if (code !== 0) return { missing: `npm install failed: ${stderr.trim().split('\n').at(-1) ?? ''}` };
  await writeFile(mark, wanted);
  return { version };
}

/** Where `node_modules` of a peer is. */
export function findNpmPeer(name: string): string {
  return join(cacheDirectory, 'npm', name);
}
