import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Bundles a program with its packages into `file`, and lazy imports into files next to it. A simultaneous run of the tests never reads an
 * incomplete file.
 */
export async function bundleFiles(
  input: string,
  file: string,
  { minify = false, external = [] as string[] } = {},
): Promise<void> {
  const target = dirname(file);
  const directory = join(target, randomUUID());
  await using bundle = await rolldown({ input, external, platform: 'node', logLevel: 'warn' });
  await bundle.write({
    dir: directory,
    format: 'esm',
    minify,
    entryFileNames: basename(file),
    // Other programs in the directory may have a chunk of the same name with other exports.
    chunkFileNames: `${basename(file, extname(file))}.[name].js`,
  });
  await mkdir(target, { recursive: true });
  for (const name of await readdir(directory)) await rename(join(directory, name), join(target, name));
  await rm(directory, { recursive: true });
}
