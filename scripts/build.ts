/**
 * Builds `lib/` with tsc and bundles the action from it into `dist/`, which is committed because the runner executes it as
 * it stands. With `--check`, compares a bundle of `lib/` as it is with the committed one and lists what differs; `npm run
 * check` compiles before. Run it through `npm run build`, which puts the project's own tools on the path.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync, transformSync } from 'esbuild';
import { renderLicences } from './licences.ts';
import { bundleSchemaWorker } from './schema-worker.ts';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

/**
 * The whole of stages.js is loaded before anything happens; what only some runs need belongs into a lazy chunk. Most of it is
 * libraries that every run needs.
 */
const maxEntryBytes = 1_600_000;
/** As `src/action/entry.ts` imports it. */
const stagesName = 'stages.js';

const isCheck = process.argv.includes('--check');
const outDir = mkdtempSync(path.join(tmpdir(), 'mcp-eval-ci-dist-'));
try {
  // A check leaves lib/ as it is, since a run of the tests may be using it.
  if (!isCheck) compile();
  await bundle(outDir);
  const problems = [...findOversize(outDir), ...(isCheck ? compare(outDir, dist) : [])];
  if (!isCheck) {
    rmSync(dist, { recursive: true, force: true });
    cpSync(outDir, dist, { recursive: true });
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(isCheck ? 'dist is what the sources build to.' : listSizes(dist).join('\n'));
} finally {
  rmSync(outDir, { recursive: true });
}

function compile(): void {
  rmSync(path.join(root, 'lib'), { recursive: true, force: true });
  execFileSync('npm', ['run', '--silent', 'prepare'], { cwd: root, stdio: 'inherit' });
}

async function bundle(target: string): Promise<void> {
  const stats = path.join(target, 'stats.json');
  const options = ['--minify', '--no-cache', '--quiet', '--target', 'es2022', '--stats-out', stats];
  execFileSync('ncc', ['build', 'lib/action/stages.js', '--out', target, ...options], { cwd: root, stdio: 'inherit' });
  // The program of the thread for schemas is text to ncc.
  const { modules } = await bundleSchemaWorker(root);
  writeFileSync(path.join(target, 'licenses.txt'), renderLicences(root, readFileSync(stats, 'utf8'), modules));
  rmSync(stats);
  renameSync(path.join(target, 'index.js'), path.join(target, stagesName));
  // Small, because it is started twice: as the supervisor, which is not to wait for the stages, and as the gate.
  buildSync({
    entryPoints: [path.join(root, 'lib/action/entry.js')],
    outfile: path.join(target, 'entry.js'),
    external: [`./${stagesName}`],
    bundle: true,
    format: 'esm',
    platform: 'node',
    minify: true,
    target: 'es2022',
  });
  // The runner starts the same code twice, under two names that tell it which step it is. Both load the rest only where the
  // runner's Node can.
  const start = readFileSync(path.join(root, 'lib/action/start.js'), 'utf8');
  for (const name of ['index.js', 'post.js']) writeFileSync(path.join(target, name), start);
  for (const name of readdirSync(target)) if (/^\d+\.index\.js$/.test(name)) minifyChunk(path.join(target, name));
}

/** ncc minifies the entry alone and leaves the lazy chunks, two thirds of everything, as they are. */
function minifyChunk(file: string): void {
  const { code } = transformSync(readFileSync(file, 'utf8'), { format: 'esm', minify: true, target: 'es2022' });
  writeFileSync(file, code);
}

function findOversize(target: string): string[] {
  const { size } = statSync(path.join(target, stagesName));
  return size <= maxEntryBytes
    ? []
    : [`dist/${stagesName} has ${size} bytes, more than ${maxEntryBytes}; import what is heavy lazily.`];
}

function compare(fresh: string, committed: string): string[] {
  const names = [...new Set([...listFiles(fresh), ...listFiles(committed)])].toSorted();
  const differing = names.filter(
    (name) => !readOrEmpty(path.join(fresh, name)).equals(readOrEmpty(path.join(committed, name))),
  );
  return differing.length === 0
    ? []
    : [
        `dist is not what the sources build to; run \`npm run build\` and commit it. Differing: ${differing.join(', ')}`,
      ];
}

function listSizes(directory: string): string[] {
  return listFiles(directory).map((name) => `${statSync(path.join(directory, name)).size} dist/${name}`);
}

function listFiles(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
      .toSorted();
  } catch {
    // Before the first build there is no dist.
    return [];
  }
}

function readOrEmpty(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
