import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleDirectory, stdioServerPath } from './bundled-servers.ts';

/** Runs once before all tests; several runs in one checkout may do so at the same time. */
export async function setup(): Promise<void> {
  const directory = `${bundleDirectory}/${randomUUID()}`;
  const input = fileURLToPath(new URL('stdio-server.ts', import.meta.url));
  await using bundle = await rolldown({ input, platform: 'node' });
  await bundle.write({ file: `${directory}/stdio-server.mjs`, format: 'esm', codeSplitting: false });
  await rename(`${directory}/stdio-server.mjs`, stdioServerPath);
  await rm(directory, { recursive: true });
}
