import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';

/**
 * Replaces `npx` and the name of a package by the program that it starts: one that is installed above `cwd`, or one that npx keeps from an
 * earlier start. In a directory of its own, npx would load the package again. Other words stay.
 */
export function resolveNpx(words: readonly string[], cwd: string): readonly string[] {
  const [first, ...rest] = words;
  const at = rest.findIndex((word) => !/^(?:-y|--yes|--no|--no-install|--)$/.test(word));
  const written = rest[at] ?? '';
  const [, name, version] = /^((?:@[^/@\s]+\/)?[^-/@.\s][^/@\s]*)(?:@(.+))?$/.exec(written) ?? [];
  if (first !== 'npx' || name === undefined) return words;
  const installed = version === undefined ? listAncestors(cwd) : [];
  const kept = [written, ...(version === undefined ? [`${name}@latest`] : [])].map(nameKept);
  for (const directory of [...installed, ...kept]) {
    const program = findProgram(join(directory, 'node_modules'), name);
    if (program !== null) return [program, ...rest.slice(at + 1)];
  }
  return words;
}

function listAncestors(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...listAncestors(parent)];
}

/** Names the directory in which npx keeps a package. */
function nameKept(specifier: string): string {
  const hash = createHash('sha512').update(specifier).digest('hex').slice(0, 16);
  const ofSystem =
    process.platform === 'win32'
      ? join(process.env['LOCALAPPDATA'] ?? homedir(), 'npm-cache')
      : join(homedir(), '.npm');
  return join(process.env['npm_config_cache'] ?? ofSystem, '_npx', hash);
}

/** Finds the program of a package, as npx does: the one with the name of the package, or the only one. */
function findProgram(modules: string, name: string): string | null {
  const programs = join(modules, '.bin');
  const own = join(programs, name.split('/').at(-1) ?? name);
  const paths = existsSync(programs) ? readdirSync(programs).map((entry) => join(programs, entry)) : [];
  const ofPackage = paths.filter((path) => leadsInto(path, join(modules, name)));
  if (ofPackage.includes(own) || (!name.includes('/') && existsSync(own))) return own;
  return ofPackage.length === 1 ? (ofPackage[0] ?? null) : null;
}

function leadsInto(link: string, directory: string): boolean {
  try {
    return realpathSync(link).startsWith(`${realpathSync(directory)}${sep}`);
  } catch {
    return false;
  }
}
