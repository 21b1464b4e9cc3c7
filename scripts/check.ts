/**
 * Everything that must hold before a change may land, the tests apart. Run it through `npm run check`. With `--beside-tests` it
 * leaves out what `npm ci` has done before and what `npm test` does at the same time.
 */
import { runSteps } from './run-steps.ts';

const isBesideTests = process.argv.includes('--beside-tests');

// The action is bundled from lib/, and the benchmarks measure it, so that their types are its.
const library = { title: 'library (tsc)', command: 'npm', args: ['run', '--silent', 'prepare'] };
const architecture = { title: 'architecture', command: 'vitest', args: ['run', 'test/architecture.test.ts'] };

// The slowest step comes first, so that the others run in parallel with it.
const steps = [
  { title: 'dist is fresh', command: 'node', args: ['scripts/build.ts', '--check'] },
  { title: 'lint (oxlint)', command: 'oxlint', args: ['--deny-warnings'] },
  // More checkers would check what they share more than once, while other steps need the processor.
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
