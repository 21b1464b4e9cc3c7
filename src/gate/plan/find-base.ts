import type { Secret } from '../../base/redaction.ts';
import { type CommitFiles, listCommitFiles } from './base-tree.ts';
import type { ChangeBase, CiJob } from './ci-job.ts';
import { describeGitError, runGit } from './git-checkout.ts';
import { openRemoteBase } from './base-files.ts';

/** Where the base is looked for. */
export interface BaseSources {
  ci: CiJob;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** For GitHub's API, where git does not have the base. */
  token: Secret | null;
}

/** The files of the base; `commit` is null where git does not have it. */
export type FoundBase = { files: CommitFiles; commit: string | null };

/** From git, which needs no permission; else from GitHub, where this is a job of its. */
export async function findBase(
  { revisions }: ChangeBase,
  { ci, cwd, environment, token }: BaseSources,
): Promise<FoundBase | { problem: string }> {
  const [first] = revisions;
  if (first === undefined) return { problem: '' };
  const found = await findCommit(revisions, cwd);
  if ('commit' in found) return { files: await listCommitFiles(found.commit, cwd), commit: found.commit };
  if (ci.system !== 'github' || token === null || ci.repository === null) return found;
  const remoteRef = first.replace(/^refs\/remotes\/origin\//, 'heads/');
  const remote = await openRemoteBase(remoteRef, { cwd, environment, token });
  return 'problem' in remote
    ? { problem: `${found.problem}; ${remote.problem}` }
    : { files: remote.files, commit: null };
}

/** Says what is not there and how it gets there, in the words of the CI system. */
export function explainMissingBase(
  { noun, label, branch, revisions }: ChangeBase,
  ci: CiJob,
  found: { problem: string },
): string {
  const checkedOut = 'or use the checked-out policy with `policy-ref: head`';
  if (revisions.length === 0) {
    const what = label ?? `this ${noun}`;
    return `is base, and ${ci.systemName} does not say which branch ${what} goes into. Name it with \`base-ref\`, such as main, ${checkedOut}`;
  }
  const name = branch ?? 'the base';
  const why = `is base, and the commit of ${name} is not here: ${found.problem}`;
  if (ci.system === 'github') return `${why}. Set \`fetch-depth: 0\` on actions/checkout, ${checkedOut}`;
  const ref = branch !== null && /^[\w./-]+$/.test(branch) ? branch : '<branch>';
  return `${why}. Fetch it before the gate starts, with \`git fetch origin +refs/heads/${ref}:refs/remotes/origin/${ref}\`, ${checkedOut}`;
}

async function findCommit(
  candidates: readonly string[],
  cwd: string,
): Promise<{ commit: string } | { problem: string }> {
  let problem = '';
  for (const candidate of candidates) {
    try {
      const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${candidate}^{commit}`];
      return { commit: (await runGit(args, cwd)).trim() };
    } catch (error) {
      problem = describeGitError(error) || `git does not know ${candidate}`;
    }
  }
  return { problem };
}
