import { fileURLToPath } from 'node:url';

/** Where the servers that tests start as processes are, each in one file: Node loads that in a third of the CPU time of its packages. */
export const bundleDirectory = fileURLToPath(new URL('../../../node_modules/.cache/test-servers', import.meta.url));

/** test/support/servers/stdio-server.ts, as one file. */
export const stdioServerPath = `${bundleDirectory}/bin/stdio-server.mjs`;

/** server-everything over stdio, as one file. */
export const everythingServerPath = `${bundleDirectory}/bin/everything-server.mjs`;

/** server-filesystem, as one file. */
export const filesystemServerPath = `${bundleDirectory}/bin/filesystem-server.mjs`;

/** server-memory, as one file. */
export const memoryServerPath = `${bundleDirectory}/bin/memory-server.mjs`;

/** test/support/servers/conformance-server.ts, as one file. */
export const conformanceServerPath = `${bundleDirectory}/bin/conformance-server.mjs`;
