import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { FaultMatrixReporter } from './test/support/faults/matrix-reporter.ts';

// What these tests need is loaded once for all of them; nothing in these rooms keeps anything to itself.
const pureRooms = 'test/{base,model,suite,verdict,report}/**/*.test.ts';

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'pure', include: [pureRooms], isolate: false } },
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: [pureRooms] } },
    ],
    reporters: ['default', new FaultMatrixReporter()],
    setupFiles: ['test/support/property-seed.ts'],
    // Real servers and child processes start in these tests; slow machines need room, and nothing asserts on time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // As many as there are processors, none of which is kept for Vitest itself: it has little to do while tests run.
    maxWorkers: availableParallelism(),
    // For the processes that tests start: what Node has made of a module is kept for the next start.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)) },
  },
});
