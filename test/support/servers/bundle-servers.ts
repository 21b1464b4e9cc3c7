import { randomUUID } from 'node:crypto';
import { cp, rename, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
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
  await bundle(fileURLToPath(new URL('plain-server.ts', import.meta.url)), plainServerPath);
  await bundle(fileURLToPath(new URL('crashing-server.ts', import.meta.url)), crashingServerPath);
  await bundle(fileURLToPath(new URL('flooding-server.ts', import.meta.url)), floodingServerPath);
  await bundle(fileURLToPath(new URL('folder-server.ts', import.meta.url)), folderServerPath);
  await bundleStarted(fileURLToPath(new URL('stdio-server.ts', import.meta.url)), stdioServerPath);
  await bundleStarted(fileURLToPath(new URL('conformance-server.ts', import.meta.url)), conformanceServerPath);
  await bundleStarted(`${packages}/server-filesystem/dist/index.js`, filesystemServerPath);
  await bundleStarted(`${packages}/server-memory/dist/index.js`, memoryServerPath);
  await bundleStarted(`${packages}/server-everything/dist/transports/stdio.js`, everythingServerPath);
  await bundleStarted(`${packages}/server-everything/dist/transports/streamableHttp.js`, everythingHttpServerPath);
  // The server reads its instructions and some of its resources from this folder.
  await cp(`${packages}/server-everything/dist/docs`, `${bundleDirectory}/docs`, { recursive: true });
}

/** Bundles a server minified, because a server has no compile cache: the gate removes its variable from the environment. */
const bundle = (input: string, file: string) => bundleFiles(input, file, { minify: true });

/**
 * Bundles a server of an SDK, next to a small file that starts it in four fifths of the CPU time: Node keeps the compiled code, and zod
 * compiles no schemas and searches none for cycles.
 */
async function bundleStarted(input: string, file: string): Promise<void> {
  const code = file.replace(/\.mjs$/, '.bundle.mjs');
  await bundle(input, code);
  const start = `import { enableCompileCache } from 'node:module';
globalThis.__zod_globalConfig = { jitless: true, memoizer: { attach() {}, guard() {}, alloc: (_schema, _payload, empty) => empty } };
enableCompileCache(${JSON.stringify(`${bundleDirectory}/compiled`)});
await import('./${basename(code)}');
`;
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, start);
  await rename(draft, file);
}
