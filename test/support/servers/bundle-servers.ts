import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleFiles } from '../bundle-files.ts';
import {
  bundleDirectory,
  conformanceServerPath,
  crashingServerPath,
  everythingHttpServerPath,
  everythingServerPath,
  filesystemServerPath,
  floodingServerPath,
  folderServerPath,
  memoryServerPath,
  plainServerPath,
  stdioServerPath,
} from './bundled-servers.ts';

const packages = fileURLToPath(new URL('../../../node_modules/@modelcontextprotocol', import.meta.url));

/** Runs once before all tests. Several runs in one checkout may execute it at the same time. */
export async function setup(): Promise<void> {
  await bundle(fileURLToPath(new URL('stdio-server.ts', import.meta.url)), stdioServerPath);
  await bundle(fileURLToPath(new URL('plain-server.ts', import.meta.url)), plainServerPath);
  await bundle(fileURLToPath(new URL('crashing-server.ts', import.meta.url)), crashingServerPath);
  await bundle(fileURLToPath(new URL('flooding-server.ts', import.meta.url)), floodingServerPath);
  await bundle(fileURLToPath(new URL('folder-server.ts', import.meta.url)), folderServerPath);
  await bundle(fileURLToPath(new URL('conformance-server.ts', import.meta.url)), conformanceServerPath);
  await bundle(`${packages}/server-filesystem/dist/index.js`, filesystemServerPath);
  await bundle(`${packages}/server-memory/dist/index.js`, memoryServerPath);
  await bundle(`${packages}/server-everything/dist/transports/stdio.js`, everythingServerPath);
  await bundle(`${packages}/server-everything/dist/transports/streamableHttp.js`, everythingHttpServerPath);
  // The server reads its instructions and some of its resources from this folder.
  await cp(`${packages}/server-everything/dist/docs`, `${bundleDirectory}/docs`, { recursive: true });
}

/** Bundles a server minified, because a server has no compile cache: the gate removes that variable from its environment. */
const bundle = (input: string, file: string) => bundleFiles(input, file, { minify: true });
