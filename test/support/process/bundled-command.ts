import { fileURLToPath } from 'node:url';

/** `src/cli/main.ts` with its packages in few files: Node starts it in half of the CPU time of the sources. */
export const commandPath = fileURLToPath(
  new URL('../../../node_modules/.cache/test-command/cli/main.js', import.meta.url),
);
