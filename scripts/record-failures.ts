// Runs the failures of examples/failing once and writes their reports, from which `npm run docs` renders the gallery. Run it by hand, when a
// report changes its form: `node scripts/record-failures.ts`.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = join(root, 'examples/failing');
const server = 'node examples/failing/server.mjs';
const evals = 'examples/failing/gallery.evals.yaml';

/** The arguments of `run` for each failure, which are all that it takes. */
const failures: ReadonlyArray<readonly [name: string, args: readonly string[]]> = [
  ['a-wrong-number', ['--cases', 'wrong-number']],
  ['a-wrong-object', ['--cases', 'wrong-object']],
  ['a-wrong-sentence', ['--cases', 'wrong-words']],
  ['a-result-that-breaks-its-schema', ['--cases', 'output-schema']],
  ['a-tool-that-answers-with-an-error', ['--cases', 'tool-error']],
  ['an-exception-with-a-stack-trace', ['--cases', 'stack-trace']],
  ['a-server-that-crashes', ['--cases', 'crash']],
  ['a-call-that-never-ends', ['--cases', 'timeout']],
  ['a-tool-that-is-missing', ['--cases', 'missing-tool']],
  ['a-flaky-case', ['--cases', 'flaky', '--isolation', 'run']],
  ['a-surface-that-changed', ['--cases', 'reads', '--surface', 'examples/failing/surface.json']],
  ['a-server-that-does-not-start', ['--server-command', `${server} --database`]],
];

const directory = join(tmpdir(), `mcp-eval-ci-failures-${process.pid}`);
await rm(join(folder, 'gallery'), { recursive: true, force: true });
await mkdir(join(folder, 'gallery'));
for (const [index, [name, args]] of failures.entries()) {
  const given = args.includes('--server-command') ? args : ['--server-command', server, ...args];
  const command = ['src/cli/main.ts', 'run', '--report-dir', directory, ...given, evals];
  // Fails, because the gate does.
  await promisify(execFile)(process.execPath, command, { cwd: root }).catch(() => {});
  const report = await readFile(join(directory, 'report.json'), 'utf8');
  const file = `${String(index + 1).padStart(2, '0')}-${name}.json`;
  await writeFile(join(folder, 'gallery', file), settle(report));
  console.log(file);
}
await rm(directory, { recursive: true });

/** Replaces what differs from one run to the next, and from one machine to another. */
function settle(text: string): string {
  const portable = text
    .replaceAll(root, '/notes/')
    // The end of a text that was cut within the path.
    .replaceAll(/file:\/\/\/(?!notes\/)[^"…]*…/g, '…')
    .replaceAll(/\b(run|iter|srv)_[0-9a-f]{24}\b/g, '$1_1')
    .replaceAll(/Node\.js v[\d.]+/g, 'Node.js v24');
  const value: unknown = JSON.parse(portable, (key, item: unknown) => {
    if (typeof item === 'number' && key.endsWith('Ms')) return key === 'durationMs' ? 250 : 0;
    if (key === 'startedAt') return '2026-09-21T12:00:00.000Z';
    return key === 'revision' ? { commit: '1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d', branch: 'PR 12' } : item;
  });
  return `${JSON.stringify(value, null, 2)}\n`;
}
