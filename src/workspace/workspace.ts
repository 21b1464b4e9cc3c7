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
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { isDirectory, isWithin, readInput } from '../base/files.ts';
import { explainProgram } from './kept-repository.ts';

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
  /** The directories of git that are kept under another name; none unless given. */
  repositories?: readonly string[];
}

export const emptyWorkspace: Workspace = { path: null, files: [], directories: [] };

/** The name of the empty workspace in a file and in an option. */
export const emptyName = 'empty';

/** A repository holds no other one, so a `.git` within a workspace is kept under this name, and gets its own in each copy. */
const gitDirectory = { kept: '.gitted', copied: '.git' };

/** Generated files have a fixed time, so that servers print the same one in each place. No value of the explorer and no generated commit has it. */
const generatedAt = new Date('2021-06-07T08:09:10Z');

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
  const found: Found = { files: [], blank: [], directories: [], repositories: [], bytes: 0 };
  await visit(path, '', found);
  const { files, blank, directories, repositories } = found;
  for (const repository of repositories) await refusePrograms(repository, path, found);
  return { path, files: files.toSorted(), blank, directories: directories.toSorted(), repositories };
}

interface Found {
  files: string[];
  blank: string[];
  directories: string[];
  repositories: string[];
  bytes: number;
}

/** Visits a directory, which is named as in copies. */
async function visit(root: string, copied: string, found: Found): Promise<void> {
  const directory = join(root, nameKept(copied, found));
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries) {
    const path = join(directory, entry.name);
    const isRepository = entry.name === gitDirectory.kept && entry.isDirectory();
    const name = join(copied, isRepository ? gitDirectory.copied : entry.name);
    if (isRepository) {
      if (entries.some((other) => other.name === gitDirectory.copied)) throw refuseTwoNames(relative(root, directory));
      found.repositories.push(name);
    }
    if (entry.isDirectory()) {
      found.directories.push(name);
      await visit(root, name, found);
    } else if (entry.isSymbolicLink()) {
      const target = await realpath(path).catch(() => resolve(directory, '..', '..'));
      if (!isWithin(await realpath(root), target)) {
        const message = `the link ${name} leads out of the workspace; replace it by a file, or choose another directory`;
        throw refuse('link-out', message);
      }
      found.files.push(name);
    } else if (entry.isFile()) {
      const { size } = await lstat(path);
      found.files.push(name);
      if (size === 0) found.blank.push(name);
      found.bytes += size;
    }
    // Stops as soon as a limit is crossed, so that a home directory is not read to its end.
    if (found.files.length > maxFiles || found.bytes > maxBytes) throw refuseSize(found);
  }
}

function refuseTwoNames(directory: string): ConfigurationError {
  const { kept, copied } = gitDirectory;
  const where = directory === '' ? 'the workspace' : directory;
  return refuse(
    'two-repositories',
    `${where} has both ${copied} and ${kept}, which becomes ${copied} in each copy; remove one`,
  );
}

/** Names a file of a copy as it is kept. */
function nameKept(file: string, { repositories = [] }: Pick<Workspace, 'repositories'>): string {
  const found = repositories.find((name) => isWithin(name, file));
  return found === undefined ? file : join(dirname(found), gitDirectory.kept, relative(found, file));
}

/** @throws {ConfigurationError} for a file of a kept repository that can make git run a program */
async function refusePrograms(repository: string, path: string, found: Found): Promise<void> {
  for (const file of found.files.filter((each) => isWithin(repository, each))) {
    const kept = nameKept(file, found);
    const why = await explainProgram(relative(repository, file), join(path, kept));
    if (why !== null) throw refuse('repository-program', `${kept} ${why}; remove it`);
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
  for (const file of workspace.files) await copyOne(workspace, file, join(target, file));
}

/** The directory next to an evals file for the files that an exploration used, unless a user names one. */
export const workspaceDirectory = 'workspace';

/** Names a workspace as an evals file in `directory` does. */
export function nameWorkspace(path: string, directory: string): string {
  if (path === emptyName) return path;
  const key = relative(directory, path).split(sep).join('/');
  return key === '' ? '.' : key;
}

/** Writes a workspace as a directory that `readWorkspace` reads. */
export async function keepWorkspace(workspace: Workspace, target: string): Promise<void> {
  const nameTarget = (entry: string) => join(target, nameKept(entry, workspace));
  await mkdir(target, { recursive: true });
  for (const directory of workspace.directories) await mkdir(nameTarget(directory), { recursive: true });
  for (const file of workspace.files) await copyOne(workspace, file, nameTarget(file));
}

/** Copies one file or directory of a workspace into a copy that has lost or changed it; nothing if the workspace does not have it. */
export async function copyAgain(workspace: Workspace, entry: string, target: string): Promise<void> {
  if (workspace.directories.includes(entry)) await mkdir(join(target, entry), { recursive: true });
  else if (workspace.files.includes(entry)) await copyOne(workspace, entry, join(target, entry));
}

async function copyOne(workspace: Workspace, file: string, to: string): Promise<void> {
  const { path, generated = {} } = workspace;
  if (path === null) {
    await writeFile(to, generated[file] ?? '');
    await utimes(to, generatedAt, generatedAt);
    return;
  }
  const from = join(path, nameKept(file, workspace));
  const { atime, mtime, isSymbolicLink } = await describeFile(from);
  if (isSymbolicLink) {
    await rm(to, { force: true });
    await symlink(await readlink(from), to);
  } else {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await utimes(to, atime, mtime);
  }
}

/** Reads when the files were changed and read, in milliseconds since 1970. Copies have these times. */
export async function readFileTimes({ path, files, repositories = [] }: Workspace): Promise<number[]> {
  if (path === null) return [generatedAt.getTime()];
  const described = await Promise.all(
    files.map(async (file) => await describeFile(join(path, nameKept(file, { repositories })))),
  );
  return described.flatMap(({ atime, mtime }) => [atime.getTime(), mtime.getTime()]);
}

async function describeFile(path: string): Promise<{ atime: Date; mtime: Date; isSymbolicLink: boolean }> {
  const found = await lstat(path);
  return { atime: found.atime, mtime: found.mtime, isSymbolicLink: found.isSymbolicLink() };
}

/** Lists the directories that are checkouts of git; `.` is the workspace itself. */
export function listCheckouts({ files }: Pick<Workspace, 'files'>): string[] {
  const head = join(gitDirectory.copied, 'HEAD');
  return files.filter((file) => file === head || file.endsWith(sep + head)).map((file) => dirname(dirname(file)));
}

/** Leaves out the files of git, which no user names. */
export function hideRepositories(workspace: Workspace): Workspace {
  const isOwn = (name: string) => !name.split(sep).includes(gitDirectory.copied);
  const { files, directories } = workspace;
  return { ...workspace, files: files.filter(isOwn), directories: directories.filter(isOwn) };
}

/** Hashes the paths, links and contents of a workspace, without times. */
export async function hashWorkspace(workspace: Workspace): Promise<string> {
  const { path, files, directories } = workspace;
  const hashed = createHash('sha256').update(JSON.stringify([files, directories]));
  if (path === null) return hashed.digest('hex');
  for (const file of files) {
    const from = join(path, nameKept(file, workspace));
    const { isSymbolicLink } = await describeFile(from);
    hashed.update(isSymbolicLink ? await readlink(from) : await readInput(from)).update('\0');
  }
  return hashed.digest('hex');
}
