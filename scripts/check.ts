/** Everything that must hold before a change may land, the tests apart. Run it through `npm run check`. */
import { runSteps } from './run-steps.ts';

const steps = [
  // The benchmarks measure what is built, so their types are those of lib/.
  { title: 'library (tsc)', command: 'npm', args: ['run', '--silent', 'prepare'] },
  { title: 'types (tsc)', command: 'tsc', args: ['-p', '.'] },
  { title: 'types of the report’s page (tsc)', command: 'tsc', args: ['-p', 'page'] },
  { title: 'lint (oxlint)', command: 'oxlint', args: ['--deny-warnings'] },
  { title: 'format (oxfmt)', command: 'oxfmt', args: ['--check', '.'] },
  { title: 'unused code and packages (knip)', command: 'knip', args: [] },
  { title: 'architecture', command: 'vitest', args: ['run', 'test/architecture.test.ts'] },
  { title: 'docs are fresh', command: 'node', args: ['scripts/docs.ts', '--check'] },
  { title: 'dist is fresh', command: 'node', args: ['scripts/build.ts', '--check'] },
];

const failed = runSteps(steps);
console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
