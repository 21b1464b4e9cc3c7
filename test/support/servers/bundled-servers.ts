import { fileURLToPath } from 'node:url';

/** Where the servers that tests start as processes are, each in one file: Node loads that in a third of the CPU time of its packages. */
export const bundleDirectory = fileURLToPath(new URL('../../../node_modules/.cache/test-servers', import.meta.url));

/** test/support/servers/stdio-server.ts, as one file. */
export const stdioServerPath = `${bundleDirectory}/bin/stdio-server.mjs`;

/** server-everything over stdio, as one file. */
export const everythingServerPath = `${bundleDirectory}/bin/everything-server.mjs`;
