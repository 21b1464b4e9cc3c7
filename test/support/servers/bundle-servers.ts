import { cp, writeFile } from 'node:fs/promises';
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
  for (const path of [plainServerPath, crashingServerPath, floodingServerPath, folderServerPath]) {
    await bundleFiles(fileURLToPath(new URL(basename(path, '.mjs') + '.ts', import.meta.url)), path, { minify: true });
  }
  await bundle(fileURLToPath(new URL('stdio-server.ts', import.meta.url)), stdioServerPath);
  await bundle(fileURLToPath(new URL('conformance-server.ts', import.meta.url)), conformanceServerPath);
  await bundle(`${packages}/server-filesystem/dist/index.js`, filesystemServerPath);
  await bundle(`${packages}/server-memory/dist/index.js`, memoryServerPath);
  await bundle(`${packages}/server-everything/dist/transports/stdio.js`, everythingServerPath);
  await bundle(`${packages}/server-everything/dist/transports/streamableHttp.js`, everythingHttpServerPath);
  // The server reads its instructions and some of its resources from this folder.
  await cp(`${packages}/server-everything/dist/docs`, `${bundleDirectory}/docs`, { recursive: true });
}

/**
 * Bundles a server of an SDK, next to a small file that starts it in four fifths of the CPU time: Node keeps the compiled code, which the
 * variable cannot turn on because the gate removes it from the environment of a server, and zod compiles no schemas.
 */
async function bundle(input: string, file: string): Promise<void> {
  const code = file.replace(/\.mjs$/, '.bundle.mjs');
  await bundleFiles(input, code, { minify: true });
  const start = `import { enableCompileCache } from 'node:module';
globalThis.__zod_globalConfig = { jitless: true };
enableCompileCache(${JSON.stringify(`${bundleDirectory}/compiled`)});
await import('./${basename(code)}');
`;
  await writeFile(file, start);
}
