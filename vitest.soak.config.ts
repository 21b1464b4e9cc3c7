import { defineConfig } from 'vitest/config';

/** What takes too long for every change: `npm run test:soak`. */
export default defineConfig({
  test: { include: ['test/soak/*.soak.ts'], testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false },
});
