import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The parts of a package that are loaded. */
const loaded = ['package.json', 'dist', 'lib', 'src', 'node_modules'];

/**
 * Lists the paths of the gate's code, and the directories in them that other programs write to: the server may use the same
 * `node_modules`, where build tools keep their caches.
 */
export function listOwnCode(file = fileURLToPath(import.meta.url)): { protect: string[]; writable: string[] } {
  const root = findPackage(dirname(file));
  const names = dirname(file).split(sep);
  const modules = names.indexOf('node_modules');
  const shared = modules === -1 ? [] : [names.slice(0, modules + 1).join(sep)];
  // A bundle has no package around it, so its own directory is protected in any case.
  const protect = [
    dirname(file),
    ...shared,
    ...loaded.map((name) => join(root, name)).filter((path) => existsSync(path)),
  ];
  return { protect, writable: protect.filter((path) => path.endsWith('node_modules')).flatMap(listCaches) };
}

function listCaches(modules: string): string[] {
  const isCache = (name: string) =>
    name.startsWith('.') && !['.bin', '.pnpm', '.store', '.package-lock.json'].includes(name);
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isCache(entry.name))
    .map((entry) => join(modules, entry.name));
}

/** Finds the nearest directory with a named package; the directory of the file if there is none. */
function findPackage(directory: string): string {
  for (let above = directory; above !== dirname(above); above = dirname(above)) {
    if (isNamed(join(above, 'package.json'))) return above;
  }
  return directory;
}

/** Bundles have a package.json without a name. */
function isNamed(file: string): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes('"name"');
}
