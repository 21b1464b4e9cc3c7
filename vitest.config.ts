import { defineConfig } from 'vitest/config';
import { FaultMatrixReporter } from './test/support/faults/matrix-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', new FaultMatrixReporter()],
    setupFiles: ['test/support/property-seed.ts'],
    // Real servers and child processes start in these tests; slow machines need room, and nothing asserts on time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
