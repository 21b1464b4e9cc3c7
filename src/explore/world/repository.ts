import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readInput } from '../../base/files.ts';
import { isRecord, type JsonObject } from '../../base/json.ts';
import { clipText } from '../../base/text.ts';
import { findProgram } from '../../server/programs.ts';
import { runProgram } from '../../server/spawn.ts';
import { copyWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { splitName } from '../vocabulary/names.ts';

/** Fixed times and names make the ids of commits the same everywhere. */
const identity = { name: 'mcp-eval-ci', email: 'mcp-eval-ci@example.com' };
const times = ['2024-01-15T12:00:00Z', '2024-01-16T12:00:00Z'];

const timeLimitMs = 10_000;
const maxOutputBytes = 1024 * 1024;

/** Parameters that name a directory with a repository. That of a service, such as `owner` and `repo`, is none. */
const repositoryNames = /^(?:git )?repo(?:sitory)? (?:path|dir|directory|root|folder)$/;

/** Checks if listed tools work on git repositories of this machine: by their names, or by a parameter that names such a directory. */
export function needsRepository(tools: readonly JsonObject[]): boolean {
  return tools.some(({ name, inputSchema }) => {
    const properties = isRecord(inputSchema) && isRecord(inputSchema['properties']) ? inputSchema['properties'] : {};
    return (
      (typeof name === 'string' && splitName(name).includes('git')) ||
      Object.keys(properties).some((parameter) => repositoryNames.test(splitName(parameter).join(' ')))
    );
  });
}

/** The files that git shows apart. */
export interface RepositoryPlan {
  /** The file of the first commit, and its text there: the text of the workspace is a change that is not staged. */
  changed: { file: string; text: string };
  /** The file that is staged and not yet committed. */
  staged: string;
}

/**
 * Adds a git repository to generated files: two commits, a branch at the first one, a tag, a staged file and a change that is not staged. Every
 * other file is committed.
 *
 * @throws {Error} with the reason if this machine has no git, or one that fails
 */
export async function addRepository(workspace: Workspace, { changed, staged }: RepositoryPlan): Promise<Workspace> {
  const program = findProgram('git');
  if (program === null) throw new Error('this machine has no git');
  const directory = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-repository-'));
  const git = async (time: string, ...args: string[]) => await runGit(program, args, { directory, time });
  const [first = '', second = ''] = times;
  try {
    await copyWorkspace(workspace, directory);
    await git(first, '-c', 'init.defaultBranch=main', 'init', '--quiet', '--template=');
    await git(first, 'config', 'user.name', identity.name);
    await git(first, 'config', 'user.email', identity.email);
    await writeFile(join(directory, changed.file), changed.text);
    await git(first, 'add', changed.file);
    await git(first, 'commit', '--quiet', '--message', 'Add the notes');
    await git(first, 'branch', 'draft');
    const others = workspace.files.filter((file) => file !== changed.file && file !== staged);
    await git(second, 'add', ...others);
    await git(second, 'commit', '--quiet', '--message', 'Add the guide and the data');
    await git(second, 'tag', '--annotate', 'v1.0.0', '--message', 'First release');
    // An index without the times and numbers of the files here has the same bytes everywhere.
    const content = await git(second, 'hash-object', '-w', staged);
    await rm(join(directory, '.git', 'index'));
    await git(second, 'read-tree', 'HEAD');
    await git(second, 'update-index', '--add', '--cacheinfo', `100644,${content},${staged}`);
    await rm(join(directory, '.git', 'COMMIT_EDITMSG'));
    return await readRepository(workspace, directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runGit(
  program: string,
  args: readonly string[],
  { directory, time }: { directory: string; time: string },
): Promise<string> {
  const env = {
    PATH: dirname(program),
    LC_ALL: 'C',
    HOME: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_AUTHOR_DATE: time,
    GIT_COMMITTER_DATE: time,
  };
  const limits = { timeout: timeLimitMs, maxBytes: maxOutputBytes };
  const { code, stdout, stderr } = await runProgram(program, args, { cwd: directory, env, ...limits });
  if (code !== 0) throw new Error(`git ${args[0]} failed: ${clipText(stderr.trim(), 200) || 'it did not end in time'}`);
  return stdout.trim();
}

async function readRepository(workspace: Workspace, directory: string): Promise<Workspace> {
  const generated: Record<string, string | Buffer> = { ...workspace.generated };
  const directories = [...workspace.directories, '.git'];
  const entries = await readdir(join(directory, '.git'), { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const name = join(entry.parentPath.slice(directory.length + 1), entry.name);
    if (entry.isDirectory()) directories.push(name);
    else generated[name] = await readInput(join(directory, name));
  }
  return {
    ...workspace,
    files: Object.keys(generated).toSorted(),
    directories: directories.toSorted(),
    generated,
    repositories: ['.git'],
  };
}
