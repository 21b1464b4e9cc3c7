/**
 * Moves the output of tsc from `node_modules/.cache/lib` to `lib/`: the gate directly, and the eval service to `lib/eval-service/`, so that one
 * tarball contains both. `npm run prepare` runs it after tsc.
 */
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { placeSpecifiers } from './place-specifiers.ts';

const root = path.resolve(import.meta.dirname, '..');
const compiled = path.join(root, 'node_modules/.cache/lib');
const lib = path.join(root, 'lib');

rmSync(lib, { recursive: true, force: true });
renameSync(path.join(compiled, 'src'), lib);
renameSync(path.join(compiled, 'packages/eval-service/src'), path.join(lib, 'eval-service'));
rmSync(compiled, { recursive: true });
for (const name of [...listFiles('eval-service'), 'cli/eval-service.js', 'cli/eval-service.d.ts']) {
  const file = path.join(lib, name);
  writeFileSync(file, placeSpecifiers(name, readFileSync(file, 'utf8')));
}
chmodSync(path.join(lib, 'cli/main.js'), 0o755);

function listFiles(directory: string): string[] {
  return readdirSync(path.join(lib, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(lib, path.join(entry.parentPath, entry.name)));
}
