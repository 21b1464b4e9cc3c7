import { createHash } from 'node:crypto';
import {
  constants,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readlink,
  realpath,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { isDirectory, isWithin, readInput } from '../base/files.ts';

/** The limits of a workspace, because every place has a copy. */
const maxBytes = 64 * 1024 * 1024;
const maxFiles = 10_000;

/** The files that each place starts with. */
export interface Workspace {
  /** The directory to copy, as an absolute path; null for generated files. */
  path: string | null;
  /** The files, relative to the directory and sorted. */
  files: readonly string[];
  /** The files without content, of which a call shows little. */
  blank?: readonly string[];
  directories: readonly string[];
  /** The contents of generated files, by path. */
  generated?: Readonly<Record<string, string | Buffer>>;
}

export const emptyWorkspace: Workspace = { path: null, files: [], directories: [] };

/** The name of the empty workspace in a file and in an option. */
export const emptyName = 'empty';

/** Generated files have a fixed time, so that servers print the same one in each place. */
const generatedAt = new Date('2024-01-15T12:00:00Z');

/**
 * Reads which files a workspace has. `empty` names an empty directory.
 *
 * @throws {ConfigurationError} if it is no directory, is too large, or has a link that leads out of it
 */
export async function readWorkspace(written: string, cwd: string): Promise<Workspace> {
  if (written === emptyName) return emptyWorkspace;
  const path = resolve(cwd, written);
  if (!(await isDirectory(path))) {
    throw refuse('no-directory', `${JSON.stringify(written)} is not a directory; check the path, or write \`empty\``);
  }
  const found: Found = { files: [], blank: [], directories: [], bytes: 0 };
  await visit(path, path, found);
  return { path, files: found.files.toSorted(), blank: found.blank, directories: found.directories.toSorted() };
}

interface Found {
  files: string[];
  blank: string[];
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
      const { size } = await lstat(path);
      found.files.push(relative(root, path));
      if (size === 0) found.blank.push(relative(root, path));
      found.bytes += size;
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
export async function copyWorkspace(workspace: Workspace, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const directory of workspace.directories) await mkdir(join(target, directory), { recursive: true });
  for (const file of workspace.files) await copyOne(workspace, file, target);
}

/** Copies one file or directory of a workspace into a copy that has lost or changed it; nothing if the workspace does not have it. */
export async function copyAgain(workspace: Workspace, entry: string, target: string): Promise<void> {
  if (workspace.directories.includes(entry)) await mkdir(join(target, entry), { recursive: true });
  else if (workspace.files.includes(entry)) await copyOne(workspace, entry, target);
}

async function copyOne(
  { path, generated = {} }: Pick<Workspace, 'path' | 'generated'>,
  file: string,
  target: string,
): Promise<void> {
  const to = join(target, file);
  if (path === null) {
    await writeFile(to, generated[file] ?? '');
    await utimes(to, generatedAt, generatedAt);
    return;
  }
  const from = join(path, file);
  const { atime, mtime, isSymbolicLink } = await describeFile(from);
  if (isSymbolicLink) {
    await rm(to, { force: true });
    await symlink(await readlink(from), to);
  } else {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await utimes(to, atime, mtime);
  }
}

async function describeFile(path: string): Promise<{ atime: Date; mtime: Date; isSymbolicLink: boolean }> {
  const found = await lstat(path);
  return { atime: found.atime, mtime: found.mtime, isSymbolicLink: found.isSymbolicLink() };
}

/** Hashes the paths, links and contents of a workspace, without times. */
export async function hashWorkspace({ path, files, directories }: Workspace): Promise<string> {
  const hashed = createHash('sha256').update(JSON.stringify([files, directories]));
  if (path === null) return hashed.digest('hex');
  for (const file of files) {
    const from = join(path, file);
    const { isSymbolicLink } = await describeFile(from);
    hashed.update(isSymbolicLink ? await readlink(from) : await readInput(from)).update('\0');
  }
  return hashed.digest('hex');
}
