// Fails if documentation, or a comment or message in the code, has a word that this project avoids.
import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { checkText, checkTypeScript } from './wording.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

const documents = ['*.md', '{docs,packages}/**/*.md', 'examples/**/*.{md,yml,yaml}', '{.,merge,publish}/action.yml'];
const sources = ['src/**/*.ts', 'packages/**/*.ts', 'page/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts', 'test/**/*.ts'];

/** The files that are not checked: bundled code with comments and strings of other packages, and the list of words with its test. */
const skipped = new Set([
  'src/report/html/page-assets.ts',
  'src/engine/schema-worker-source.ts',
  'src/server/check-worker-source.ts',
  'src/browser/probe-source.ts',
  'scripts/wording.ts',
  'test/scripts/wording.test.ts',
]);

const lines: string[] = [];
for (const [patterns, check] of [
  [documents, checkText],
  [sources, checkTypeScript],
] as const) {
  const paths: string[] = [];
  for await (const path of glob(patterns, { cwd: root })) paths.push(path.replaceAll('\\', '/'));
  for (const path of paths.toSorted()) {
    if (skipped.has(path)) continue;
    for (const { line, word, instead } of check(await readFile(new URL(`../${path}`, import.meta.url), 'utf8')))
      lines.push(`${path}:${line}: “${word}” → ${instead}`);
  }
}

for (const line of lines) console.error(line);
if (lines.length > 0) process.exitCode = 1;
