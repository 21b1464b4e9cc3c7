/**
 * Builds `lib/` with tsc and bundles the action from it into `dist/`, which is committed because the runner executes it directly. With
 * `--check`, bundles the existing `lib/` and lists the differences to the committed bundle; `npm run check` compiles first. Run it through
 * `npm run build`, which puts the project's own tools on the path.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Plugin, type PreRenderedChunk, rolldown } from 'rolldown';
import { renderLicences } from './licences.ts';
import { bundleSchemaWorker } from './schema-worker.ts';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

/** The chunk with everything that a gate loads at its start. */
const gateName = 'gate.js';

/** Chunks that several parts share. Each contains its modules and their imports. */
const sharedChunks = [
  { name: 'gate', test: /\/lib\/action\/stages\.js$/, priority: 4 },
  { name: 'mcp', test: /\/node_modules\/(?:@modelcontextprotocol|ajv|ajv-formats|jose)\//, priority: 3 },
  {
    name: 'tunnel',
    test: /\/node_modules\/ws\/|\/lib\/(?:tunnel\/|gate\/run\/(?:job-tunnel|tool-clashes)\.js$)/,
    priority: 2,
  },
  { name: 'engine', test: /\/lib\/(?:engine|server)\//, priority: 1 },
  // The destinations of a report after the verdict: GitHub, a hosted project, a page. GitHub's client is a chunk of its own: it may fail to load.
  {
    name: 'sinks',
    test: /\/lib\/(?:report\/html\/page|gate\/publish\/(?:upload-results|publish-github|publish-report))\.js$/,
    priority: 1,
  },
  // The parts that compare with the base of a pull request: policy, results, tool surface with its coverage.
  {
    name: 'base',
    test: /\/lib\/surface\/|\/lib\/gate\/(?:plan\/(?:base-policy|base-tree|weakenings|protect-past|changed-recordings|plan-base|surface-part)|run\/(?:base-side|base-cache|base-checkout|pair-log|run-with-base|base-partner|coverage-log))\.js$/,
    priority: 1,
  },
  {
    name: 'models',
    test: /\/lib\/models\/(?!anthropic|compatible)|\/lib\/gate\/(?:plan\/plan|run\/open)-models\.js$|\/(?:plan-judges|load-decoys|calibration)\.js$|publish-recordings\.js$|\/@ai-sdk\/provider(?:-utils)?\//,
    priority: 1,
  },
];

/** Parts of undici that its index loads and that this project does not use: mocks, WebSocket (the tunnel uses `ws`) and EventSource. */
const unusedParts = /\/node_modules\/undici\/lib\/(?:mock|web\/websocket|web\/eventsource)\//;

const dropUnusedParts: Plugin = {
  name: 'drop-unused-parts',
  load: { filter: { id: unusedParts }, handler: () => 'module.exports = {};' },
};

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

/** Bundles the gate with its lazy parts, and the small files that start it. */
async function bundle(target: string): Promise<void> {
  const stages = await rolldown({
    input: path.join(root, 'lib/action/stages.js'),
    cwd: root,
    platform: 'node',
    plugins: [dropUnusedParts],
  });
  const { output } = await stages.write({
    dir: target,
    format: 'esm',
    minify: true,
    // entry.js imports `runStage` by its name.
    minifyInternalExports: false,
    chunkFileNames: nameChunk,
    codeSplitting: { groups: sharedChunks },
  });
  // The gate's chunk contains the entry, and this file would only export it again.
  rmSync(path.join(target, 'stages.js'));
  writeFileSync(path.join(target, 'package.json'), `${JSON.stringify({ type: 'module' }, null, 2)}\n`);
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
  // The program of the schema worker is a text in the bundle.
  const worker = await bundleSchemaWorker(root);
  writeFileSync(path.join(target, 'licenses.txt'), renderLicences(root, [...modules, ...worker.modules]));

  // The entry is small, because it is started twice: as the supervisor, which does not wait for the stages, and as the gate.
  const entry = await rolldown({
    input: path.join(root, 'lib/action/entry.js'),
    cwd: root,
    platform: 'node',
    external: [/stages\.js$/],
  });
  await entry.write({
    file: path.join(target, 'entry.js'),
    format: 'esm',
    minify: true,
    codeSplitting: false,
    paths: (name) => (name.endsWith('/stages.js') ? `./${gateName}` : name),
  });
  // The runner starts the same code under several names, which select the action and the step. Each file loads the rest only if the runner's
  // Node supports it.
  const start = readFileSync(path.join(root, 'lib/action/start.js'), 'utf8');
  for (const name of ['index.js', 'merge.js', 'publish.js', 'post.js']) writeFileSync(path.join(target, name), start);
}

/** Names a lazy part after its room and its file: `run-local-backend.js`. */
function nameChunk({ name, facadeModuleId }: Pick<PreRenderedChunk, 'name' | 'facadeModuleId'>): string {
  const part = /\/([^/]+)\/([^/]+)\.js$/.exec(facadeModuleId ?? '');
  return part === null ? `${name}.js` : `${part[1]}-${part[2]}.js`;
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
