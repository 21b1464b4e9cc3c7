import { fileURLToPath } from 'node:url';

/** The directory of the entries with their packages, each in few files: Node starts them in half of the CPU time of the sources. */
export const entryDirectory = fileURLToPath(new URL('../../../node_modules/.cache/test-entries', import.meta.url));

/** Built from src/cli/main.ts. */
export const commandPath = `${entryDirectory}/cli/main.js`;

/** Built from src/action/entry.ts; the name under which it is started selects the action. */
export const actionPath = `${entryDirectory}/action/entry.js`;
