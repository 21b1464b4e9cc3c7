/**
 * Builds `lib/` with tsc and bundles the action from it into `dist/` with ncc. `dist/` is committed because the runner executes it directly. With
 * `--check`, bundles the existing `lib/` and lists the differences to the committed bundle; `npm run check` compiles first. Run it through
 * `npm run build`, which puts the project's own tools on the path.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ncc, { type BundledModule } from '@vercel/ncc';
import { transform } from 'esbuild';
import { bundleOctokit, bundleSchemaWorker } from './bundles.ts';
import { renderLicences } from './licences.ts';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

const isCheck = process.argv.includes('--check');
const outDir = mkdtempSync(path.join(tmpdir(), 'mcp-eval-ci-dist-'));
try {
  // A check leaves lib/ unchanged, because a run of the tests may be using it.
  if (!isCheck) compile();
  await bundle(outDir);
  const problems = isCheck ? compare(outDir, dist) : [];
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

/** Bundles the supervisor and the gate, each with its lazy parts, and the small files that start them. */
async function bundle(target: string): Promise<void> {
  // The program of the schema worker is a text in the bundle, and GitHub's client is a bundle in lib/.
  const parts = await Promise.all([bundleSchemaWorker(root), bundleOctokit(root)]);
  const modules = parts.flatMap((part) => part.modules);
  for (const part of ['entry', 'stages']) {
    const { code, assets, stats } = await ncc(path.join(root, `lib/action/${part}.js`), {
      filename: `${part}.js`,
      cache: false,
      quiet: true,
      target: 'es2022',
    });
    for (const [name, { source }] of Object.entries({ ...assets, [`${part}.js`]: { source: code } })) {
      writeFileSync(path.join(target, name), await minify(name, source.toString()));
    }
    modules.push(...listModules(stats.compilation.modules));
  }
  writeFileSync(path.join(target, 'licenses.txt'), renderLicences(root, modules));
  // The runner starts the same code under several names, which select the action and the step. Each file loads the rest only if the runner's
  // Node supports it.
  for (const name of ['index.js', 'merge.js', 'publish.js', 'post.js']) {
    cpSync(path.join(root, 'lib/action/start.js'), path.join(target, name));
  }
}

/** Minifies a script. ncc minifies only the first file of a bundle, and keeps the names in it. */
async function minify(name: string, text: string): Promise<string> {
  return name.endsWith('.js') ? (await transform(text, { minify: true, legalComments: 'none' })).code : text;
}

/** Lists the files in a bundle. */
function listModules(modules: Iterable<BundledModule>): string[] {
  return [...modules].flatMap(({ resource, modules: joined }) => [resource ?? '', ...listModules(joined ?? [])]);
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
    // Before the first build, dist does not exist.
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
