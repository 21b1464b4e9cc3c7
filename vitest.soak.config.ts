import { defineConfig } from 'vitest/config';

/** Tests of which `npm test` makes a tenth of the draws, and the fault matrix, of which it runs each alternative once. */
const properties = [
  'test/base/redaction.test.ts',
  'test/engine/stale-recordings.property.test.ts',
  'test/faults/{cancel-run,chaos,connect,create-run,create-suite,grant,pages,poll,post-step,relay,server,shared-key,teardown}.test.ts',
  'test/gate/{base,base-everything,repeatable}.test.ts',
  'test/gate/damaged-reports.property.test.ts',
  'test/gate/plan/check-report.test.ts',
  'test/report/{comment,summary}.test.ts',
  'test/report/escape/{html,log,markdown}.test.ts',
  'test/report/html/page.test.ts',
  'test/server/output-tail.test.ts',
  'test/suite/sync.property.test.ts',
  'packages/eval-service/test/sync/round-trip.property.test.ts',
  'test/tunnel/frames.test.ts',
  'test/verdict/{bounds,early,judge-gate,merge}.test.ts',
  'test/verdict/{judge,policy}.property.test.ts',
];

/** What takes too long for every change: `npm run test:soak`. */
export default defineConfig({
  test: {
    include: ['test/soak/*.soak.ts', ...properties],
    setupFiles: ['test/support/schema-settings.ts', 'test/support/property-seed.ts'],
    globalSetup: ['test/support/servers/bundle-servers.ts', 'test/support/process/bundle-command.ts'],
    env: { PROPERTY_DRAWS: 'all' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
