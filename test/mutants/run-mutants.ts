/** Puts each seeded bug into a copy of the repository and shows which test catches it: `npm run test:mutants`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type SeededBug, seededBugs } from './seeded-bugs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const copied = [
  'src',
  'packages',
  'page',
  'scripts',
  'test',
  'examples',
  'schemas',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'action.yml',
];
const linked = ['node_modules', 'lib', 'dist'];

const wanted = process.argv.slice(2).join(' ');
const copy = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-mutants-'));
try {
  for (const name of copied) await cp(join(root, name), join(copy, name), { recursive: true });
  for (const name of linked) await symlink(join(root, name), join(copy, name));
  const bugs = seededBugs.filter(({ what }) => what.includes(wanted));
  let caught = 0;
  for (const bug of bugs) {
    const catcher = await seed(bug);
    if (catcher !== null) caught += 1;
    console.log(`${catcher === null ? '✗' : '✓'} ${bug.what}\n    ${catcher ?? 'no test failed'}`);
  }
  console.log(`${caught} of ${bugs.length} caught.`);
  process.exitCode = caught === bugs.length ? 0 : 1;
} finally {
  await rm(copy, { recursive: true });
}

/** Gives the name of the first test that fails with the bug; null where none does. */
async function seed({ file, from, to, tests }: SeededBug): Promise<string | null> {
  const path = join(copy, 'src', file);
  const source = await readFile(path, 'utf8');
  await writeFile(
    path,
    source.replace(from, () => to),
  );
  try {
    return await findFailure(tests.map((test) => join('test', test)));
  } finally {
    await writeFile(path, source);
  }
}

async function findFailure(tests: readonly string[]): Promise<string | null> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const results = join(copy, 'results.json');
  const args = ['run', '--reporter=json', `--outputFile=${results}`, '--bail=1', ...tests];
  await once(spawn(process.execPath, [vitest, ...args], { cwd: copy, stdio: 'ignore' }), 'close');
  interface Outcome {
    testResults: Array<{ assertionResults: Array<{ status: string; fullName: string }>; status: string; name: string }>;
  }
  const { testResults } = JSON.parse(await readFile(results, 'utf8')) as Outcome;
  await rm(results);
  if (testResults.length === 0) throw new Error(`None of ${tests.join(', ')} is there.`);
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed');
  return failed?.fullName ?? null;
}
