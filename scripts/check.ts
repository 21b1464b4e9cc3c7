/**
 * Runs all checks of a change except the tests. Run it through `npm run check`. `--beside-tests` leaves out the steps that `npm ci` has
 * already done and that `npm test` does at the same time.
 */
import { runSteps } from './run-steps.ts';

const isBesideTests = process.argv.includes('--beside-tests');

// The action is bundled from lib/, and the benchmarks measure it, so their types come from it.
const library = { title: 'library (tsc)', command: 'npm', args: ['run', '--silent', 'prepare'] };
const architecture = { title: 'architecture', command: 'vitest', args: ['run', 'test/architecture.test.ts'] };

// The slowest step comes first, so that the others run in parallel with it.
const steps = [
  { title: 'dist is fresh', command: 'node', args: ['scripts/build.ts', '--check'] },
  { title: 'lint (oxlint)', command: 'oxlint', args: ['--deny-warnings'] },
  // More checkers would check shared files several times, while other steps need the processor.
  { title: 'types (tsc)', command: 'tsc', args: ['-p', '.', '--checkers', '1'] },
  { title: 'types of the report’s page (tsc)', command: 'tsc', args: ['-p', 'page'] },
  { title: 'unused code and packages (knip)', command: 'knip', args: [] },
  { title: 'docs are fresh', command: 'node', args: ['scripts/docs.ts', '--check'] },
  { title: 'contract of the API', command: 'node', args: ['scripts/contract-table.ts'] },
  { title: 'wording', command: 'node', args: ['scripts/check-wording.ts'] },
  { title: 'format (oxfmt)', command: 'oxfmt', args: ['--check', '.'] },
];

const failed = isBesideTests
  ? await runSteps(steps)
  : [...(await runSteps([library])), ...(await runSteps([...steps, architecture]))];
console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
