// Installs the peers that crates.io has, each in a directory of its own in the cache.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './process.ts';
import { cacheDirectory } from './servers.ts';

/** A peer with some hundred dependencies compiles for half an hour on a busy machine. */
const compilationLimitMs = 7_200_000;

/** Gives the version that is pinned, or why it cannot be had. */
export async function installRustPeer(
  name: string,
  version: string,
): Promise<{ version: string } | { missing: string }> {
  const directory = join(cacheDirectory, 'rust-peers', name);
  const mark = join(directory, 'installed');
  if ((await readFile(mark, 'utf8').catch(() => null)) === version) return { version };
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const cwd = directory;
  if ((await runProgram(['cargo', '--version'], { cwd })).code !== 0) return { missing: 'cargo does not start' };
  const command = ['cargo', 'install', name, '--version', version, '--root', directory];
  const { code, stderr } = await runProgram(command, { cwd, limitMs: compilationLimitMs });
  if (code !== 0) return { missing: `cargo install failed: ${stderr.trim().split('\n').at(-1) ?? ''}` };
  await writeFile(mark, version);
  return { version };
}

export function findRustPeer(name: string): string {
  return join(cacheDirectory, 'rust-peers', name, 'bin', name);
}
