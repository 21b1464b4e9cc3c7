import { fileURLToPath } from 'node:url';

/** Where the entries are with their packages, each in few files: Node starts them in half of the CPU time of the sources. */
export const entryDirectory = fileURLToPath(new URL('../../../node_modules/.cache/test-entries', import.meta.url));

/** src/cli/main.ts. */
export const commandPath = `${entryDirectory}/cli/main.js`;

/** src/action/entry.ts; the name under which it is started says which action it is. */
export const actionPath = `${entryDirectory}/action/entry.js`;
