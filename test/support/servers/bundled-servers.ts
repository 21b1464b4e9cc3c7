import { fileURLToPath } from 'node:url';

/** The directory of servers that tests start as processes, each in one file: Node loads it in a third of the CPU time of its packages. */
export const bundleDirectory = fileURLToPath(new URL('../../../node_modules/.cache/test-servers', import.meta.url));

/** test/support/servers/stdio-server.ts, as one file. */
export const stdioServerPath = `${bundleDirectory}/bin/stdio-server.mjs`;

/** test/support/servers/plain-server.ts, as one file. */
export const plainServerPath = `${bundleDirectory}/bin/plain-server.mjs`;

/** Starts plain-server.ts with the Node that runs the tests. */
export const plainServerCommand = `${process.execPath} ${plainServerPath}`;

/** test/support/servers/crashing-server.ts, as one file. */
export const crashingServerPath = `${bundleDirectory}/bin/crashing-server.mjs`;

/** test/support/servers/flooding-server.ts, as one file. */
export const floodingServerPath = `${bundleDirectory}/bin/flooding-server.mjs`;

/** test/support/servers/folder-server.ts, as one file. */
export const folderServerPath = `${bundleDirectory}/bin/folder-server.mjs`;

/** server-everything over stdio, as one file. */
export const everythingServerPath = `${bundleDirectory}/bin/everything-server.mjs`;

/** server-everything over HTTP, on the port of `PORT`, as one file. */
export const everythingHttpServerPath = `${bundleDirectory}/bin/everything-http-server.mjs`;

/** server-filesystem, as one file. */
export const filesystemServerPath = `${bundleDirectory}/bin/filesystem-server.mjs`;

/** server-memory, as one file. */
export const memoryServerPath = `${bundleDirectory}/bin/memory-server.mjs`;

/** test/support/servers/conformance-server.ts, as one file. */
export const conformanceServerPath = `${bundleDirectory}/bin/conformance-server.mjs`;
