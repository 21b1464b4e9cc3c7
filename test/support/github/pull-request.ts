import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createWorkspace, type Workspace } from '../workspace.ts';

/** A checkout of a pull request into `main`, and the environment of its job. */
export interface PullRequestCheckout {
  workspace: Workspace;
  environment: Record<string, string>;
}

/** A change of a commit: a text, a symbolic link, or null for a deleted file. */
export type FileChange = string | { link: string } | null;

export function runGitIn({ path }: Workspace, ...args: string[]): string {
  // A commit would start two more processes to see whether the repository needs maintenance.
  const settings = ['user.name=t', 'user.email=t@t.example', 'commit.gpgsign=false', 'maintenance.auto=false'];
  const options = settings.flatMap((setting) => ['-c', setting]);
  return execFileSync('git', [...options, ...args], { cwd: path, encoding: 'utf8', stdio: 'pipe' }).trim();
}

async function changeFiles({ path }: Workspace, changes: Readonly<Record<string, FileChange>>): Promise<void> {
  for (const [file, change] of Object.entries(changes)) {
    const target = join(path, file);
    await mkdir(dirname(target), { recursive: true });
    await rm(target, { force: true, recursive: true });
    if (typeof change === 'string') await writeFile(target, change);
    else if (change !== null) await symlink(change.link, target);
  }
}

export async function commitFiles(
  workspace: Workspace,
  changes: Readonly<Record<string, FileChange>>,
): Promise<string> {
  await changeFiles(workspace, changes);
  runGitIn(workspace, 'add', '-A');
  runGitIn(workspace, 'commit', '-q', '--allow-empty', '-m', 'change');
  return readHead(workspace);
}

/** Returns the latest commit of the current branch. Git keeps it in a file until it packs it. */
function readHead({ path }: Workspace): string {
  const head = readFileSync(join(path, '.git', 'HEAD'), 'utf8').trim();
  return head.startsWith('ref: ') ? readFileSync(join(path, '.git', head.slice(5)), 'utf8').trim() : head;
}

/** Writes the files of an empty repository, because `git init` takes a process for each test. */
async function initializeRepository({ path }: Workspace): Promise<void> {
  await mkdir(join(path, '.git/objects'), { recursive: true });
  await mkdir(join(path, '.git/refs/heads'), { recursive: true });
  await writeFile(join(path, '.git/HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(path, '.git/config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
}

/** Creates a repository whose main has `base`, with `head` checked out over it but not committed, and the event of its pull request. */
export async function createPullRequest(
  base: Readonly<Record<string, FileChange>>,
  head: Readonly<Record<string, FileChange>>,
): Promise<PullRequestCheckout> {
  const workspace = await createWorkspace();
  await initializeRepository(workspace);
  const sha = await commitFiles(workspace, base);
  await changeFiles(workspace, head);
  return { workspace, environment: await describePullRequest(workspace, sha) };
}

/** Writes the event of a pull request with this base commit. Returns the variables of its job. */
export async function describePullRequest({ path }: Workspace, sha: string): Promise<Record<string, string>> {
  const event = join(path, '.git', 'event.json');
  await writeFile(event, JSON.stringify({ pull_request: { number: 1, base: { sha } } }));
  return { GITHUB_EVENT_PATH: event, GITHUB_BASE_REF: 'main' };
}
