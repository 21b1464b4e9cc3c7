import {
  constants,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readlink,
  realpath,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { ConfigurationError } from '../../base/errors.ts';
import { isDirectory, isWithin } from '../../base/files.ts';

/** The limits of a workspace: every world copies it. */
const maxBytes = 64 * 1024 * 1024;
const maxFiles = 10_000;

/** The files that each world starts with. */
export interface Workspace {
  /** The directory to copy, as an absolute path; null for generated files. */
  path: string | null;
  /** The files, relative to the directory and sorted. */
  files: readonly string[];
  directories: readonly string[];
}

export const emptyWorkspace: Workspace = { path: null, files: [], directories: [] };

/** The start of a PNG with one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Small files of common kinds, for a server whose user names no workspace. */
const generatedFiles: Readonly<Record<string, string | Buffer>> = {
  'data.json': '{ "name": "alpha", "count": 2, "tags": ["work", "home"] }\n',
  'docs/guide.md': '# Guide\n\nAlpha comes before beta.\n\n## Notes\n\n- alpha\n- beta\n',
  'notes.txt': 'alpha\nbeta\nGamma\n',
  'pixel.png': Buffer.from(pixel, 'base64'),
  'table.csv': 'name,count\nalpha,2\nbeta,3\n',
};

/** Generated files have a fixed time, so that servers print the same one in each world. */
const generatedAt = new Date('2024-01-15T12:00:00Z');

const generatedWorkspace: Workspace = {
  path: null,
  files: Object.keys(generatedFiles),
  directories: ['docs'],
};

/**
 * Reads which files a workspace has. `empty` names an empty directory, and null a few generated files.
 *
 * @throws {ConfigurationError} if it is no directory, is too large, or has a link that leads out of it
 */
export async function readWorkspace(written: string | null, cwd: string): Promise<Workspace> {
  if (written === null) return generatedWorkspace;
  if (written === 'empty') return emptyWorkspace;
  const path = resolve(cwd, written);
  if (!(await isDirectory(path))) {
    throw refuse('no-directory', `${JSON.stringify(written)} is not a directory; check the path, or write \`empty\``);
  }
  const found = { files: [] as string[], directories: [] as string[], bytes: 0 };
  await visit(path, path, found);
  return { path, files: found.files.toSorted(), directories: found.directories.toSorted() };
}

interface Found {
  files: string[];
  directories: string[];
  bytes: number;
}

async function visit(root: string, directory: string, found: Found): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      found.directories.push(relative(root, path));
      await visit(root, path, found);
    } else if (entry.isSymbolicLink()) {
      const target = await realpath(path).catch(() => resolve(directory, '..', '..'));
      if (!isWithin(await realpath(root), target)) {
        const message = `the link ${relative(root, path)} leads out of the workspace; replace it by a file, or choose another directory`;
        throw refuse('link-out', message);
      }
      found.files.push(relative(root, path));
    } else if (entry.isFile()) {
      found.files.push(relative(root, path));
      found.bytes += (await lstat(path)).size;
    }
    // Stops as soon as a limit is crossed, so that a home directory is not read to its end.
    if (found.files.length > maxFiles || found.bytes > maxBytes) throw refuseSize(found);
  }
}

function refuseSize({ files, bytes }: Found): ConfigurationError {
  const size = `${files.length} files and ${Math.ceil(bytes / 1024 / 1024)} MiB were counted so far`;
  return refuse(
    'workspace-too-large',
    `a workspace has at most 10,000 files and 64 MiB, and ${size}; choose a smaller directory, or write \`empty\``,
  );
}

function refuse(code: string, message: string): ConfigurationError {
  return new ConfigurationError([{ input: 'workspace', code, message }]);
}

/** Copies a workspace into a new directory, with the times of its files. */
export async function copyWorkspace({ path, files, directories }: Workspace, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const directory of directories) await mkdir(join(target, directory), { recursive: true });
  for (const file of files) {
    const to = join(target, file);
    if (path === null) {
      await writeFile(to, generatedFiles[file] ?? '');
      await utimes(to, generatedAt, generatedAt);
      continue;
    }
    const from = join(path, file);
    const { atime, mtime, isSymbolicLink } = await describeFile(from);
    if (isSymbolicLink) await symlink(await readlink(from), to);
    else {
      await copyFile(from, to, constants.COPYFILE_FICLONE);
      await utimes(to, atime, mtime);
    }
  }
}

async function describeFile(path: string): Promise<{ atime: Date; mtime: Date; isSymbolicLink: boolean }> {
  const found = await lstat(path);
  return { atime: found.atime, mtime: found.mtime, isSymbolicLink: found.isSymbolicLink() };
}
