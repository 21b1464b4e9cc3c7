import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What of a package is loaded from it. */
const loaded = ['package.json', 'dist', 'lib', 'src', 'node_modules'];

/**
 * Lists where the code of the gate is, and the directories within that other programs write to: `node_modules` may be the
 * server's, too, and build tools keep their caches there.
 */
export function listOwnCode(file = fileURLToPath(import.meta.url)): { protect: string[]; writable: string[] } {
  const root = findPackage(dirname(file));
  const names = dirname(file).split(sep);
  const modules = names.indexOf('node_modules');
  const shared = modules === -1 ? [] : [names.slice(0, modules + 1).join(sep)];
  // What is bundled has no package around it that could be relied on.
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

/** The nearest directory that holds a named package; that of the file where there is none. */
function findPackage(directory: string): string {
  for (let above = directory; above !== dirname(above); above = dirname(above)) {
    if (isNamed(join(above, 'package.json'))) return above;
  }
  return directory;
}

/** Bundles come with a package.json that says nothing but their type. */
function isNamed(file: string): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes('"name"');
}
