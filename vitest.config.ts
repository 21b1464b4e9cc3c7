import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { FaultMatrixReporter } from './test/support/faults/matrix-reporter.ts';

export default defineConfig({
  test: {
    include: ['{test,packages/*/test}/**/*.test.ts'],
    // The modules are loaded once per worker: no test file changes what another one finds in them.
    isolate: false,
    // Starting a process takes longer the more memory a worker holds, and tests start thousands. These flags, and the variables of
    // malloc below, give memory back early.
    execArgv: ['--max-semi-space-size=4', '--heap-growing-percent=50'],
    reporters: ['default', new FaultMatrixReporter()],
    setupFiles: ['test/support/schema-settings.ts', 'test/support/property-seed.ts'],
    globalSetup: ['test/support/servers/bundle-servers.ts', 'test/support/process/bundle-command.ts'],
    // Real servers and child processes start in these tests, and a busy machine takes ten times as long for them. The limits end what
    // hangs, and decide no test: a test has none of its own.
    // A test that passes at its second try does not fail the run, and is printed as retried.
    retry: process.env['CI'] === undefined ? 0 : 1,
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 300_000 } },
    // More than processors, since many tests wait for a process or a time limit.
    maxWorkers: availableParallelism() + 3,
    env: {
      // For the processes that tests start: Node keeps its compiled modules for the next start.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)),
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '131072',
      MALLOC_TRIM_THRESHOLD_: '131072',
    },
  },
});
