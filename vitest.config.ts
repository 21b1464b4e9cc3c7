import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    // Real servers and child processes start in these tests; slow machines need room, and nothing asserts on time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
