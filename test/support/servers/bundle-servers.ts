import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleFiles } from '../bundle-files.ts';
import { bundleDirectory, everythingServerPath, stdioServerPath } from './bundled-servers.ts';

const everything = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/', import.meta.url),
);

/** Runs once before all tests; several runs in one checkout may do so at the same time. */
export async function setup(): Promise<void> {
  await bundleFiles(fileURLToPath(new URL('stdio-server.ts', import.meta.url)), stdioServerPath);
  await bundleFiles(`${everything}transports/stdio.js`, everythingServerPath);
  // The server reads its instructions and some of its resources from there.
  await cp(`${everything}docs`, `${bundleDirectory}/docs`, { recursive: true });
}
