import { isAbsolute, relative } from 'node:path';
import type { ConfigurationIssue } from '../../base/errors.ts';
import type { Secret } from '../../base/redaction.ts';
import type { PolicyFile, PolicyLayer } from '../../model/policy.ts';
import type { Suite } from '../../model/suite.ts';
import { readSuite } from '../../suite/read.ts';
import { readPolicy } from '../../suite/read-policy.ts';
import type { ReadBaseFile } from './base-files.ts';
import type { ChangeBase, CiContext } from './ci-context.ts';
import { describeGitError, runGit } from './git-checkout.ts';
import { openRemoteBase } from './base-files.ts';

/** The policy of the branch that a pull request goes into. */
export interface BasePolicy {
  /** The policy file as the base has it; the head's own where the base has none. */
  chooseFile(path: string, own: PolicyFile | null): Promise<PolicyFile | null>;
  /** What the base's evals file demands; the head's own where the base has no such suite. */
  chooseLayer(suite: Suite): Promise<PolicyLayer>;
}

interface BaseContext {
  ci: CiContext;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Takes what differs between base and head. */
  notes: string[];
  /** Takes why the policy is the one that is checked out. */
  remarks: string[];
  /** For GitHub's API, where git does not have the base. */
  token: Secret | null;
}

/**
 * Opens the policy of the base branch, which git or GitHub has to have. Null where nothing is asked to be merged, which is a remark,
 * and where the base could not be found, which is an issue.
 */
export async function openBasePolicy(context: BaseContext, issues: ConfigurationIssue[]): Promise<BasePolicy | null> {
  const { base } = context.ci;
  if (base === null) {
    context.remarks.push(
      '`policy-ref: base`: this is no pull or merge request, so the policy is the one that is checked out.',
    );
    return null;
  }
  const found = await openFiles(base, context);
  if ('problem' in found) {
    issues.push({ input: 'policy-ref', code: 'base-not-fetched', message: explainProblem(base, context, found) });
    return null;
  }
  const name = base.branch ?? base.revisions[0]?.slice(0, 12) ?? 'base';
  const { read } = found;
  const { notes } = context;
  return {
    chooseFile: async (path, own) => {
      const text = await read(path);
      if (text === null) {
        notes.push(`${name} has no ${path} yet, so that the policy file of this change counts.`);
        return own;
      }
      const { policy, findings } = readPolicy(text, { file: `${name}:${path}` });
      // A base that is not valid would otherwise be a way around it.
      issues.push(...findings);
      if (policy !== null)
        notes.push(...describeChange(path, { ...base, name }, [stripFile(policy), own && stripFile(own)]));
      return policy;
    },
    chooseLayer: async (suite) => {
      const { file } = suite.location;
      const text = file === inlineTests ? null : await read(file);
      const before = text === null ? null : readSuite(text, { file: `${name}:${file}` }).suite;
      if (before === null) {
        const why = text === null ? `${name} has no ${file}` : `${file} of ${name} cannot be read`;
        notes.push(`${why}, so that its own policy counts.`);
        return suite.policy;
      }
      const layer = demandRequired(before, suite, notes, name);
      notes.push(
        ...describeChange(`The policy in ${file}`, { ...base, name }, [listDemands(before), listDemands(suite)]),
      );
      return layer;
    },
  };
}

/** What tests written in place are called; they are part of the workflow. */
const inlineTests = 'tests';

/** From git, which needs no permission; else from GitHub, where this is a job of its. */
async function openFiles(
  { revisions }: ChangeBase,
  { ci, cwd, environment, token }: BaseContext,
): Promise<{ read: ReadBaseFile } | { problem: string }> {
  const [first] = revisions;
  if (first === undefined) return { problem: '' };
  const found = await findCommit(revisions, cwd);
  if ('commit' in found) return { read: (path) => readBlob(found.commit, path, cwd) };
  if (ci.system !== 'github' || token === null || ci.repository === null) return found;
  const remoteRef = first.replace(/^refs\/remotes\/origin\//, 'heads/');
  const remote = await openRemoteBase(remoteRef, { cwd, environment, token });
  return 'problem' in remote ? { problem: `${found.problem}; ${remote.problem}` } : remote;
}

/** Says what is not there and how it gets there, in the words of the CI system. */
function explainProblem(
  { noun, label, branch, revisions }: ChangeBase,
  { ci }: BaseContext,
  found: { problem: string },
) {
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

/** Null where the commit has no such file. */
async function readBlob(commit: string, path: string, cwd: string): Promise<string | null> {
  const fromCwd = isAbsolute(path) ? relative(cwd, path) : path;
  const name = `${commit}:./${fromCwd.replaceAll('\\', '/')}`;
  try {
    await runGit(['cat-file', '-e', name], cwd);
  } catch {
    return null;
  }
  return await runGit(['cat-file', 'blob', name], cwd);
}

/** What the base requires stays required, as long as the case is there. */
function demandRequired(before: Suite, suite: Suite, notes: string[], name: string): PolicyLayer {
  const required = before.cases.filter(({ isRequired }) => isRequired);
  const gone = required.filter(({ id }) => !suite.cases.some((item) => item.id === id));
  for (const { title } of gone) {
    notes.push(`The case ${JSON.stringify(title)}, which ${name} requires, is gone from ${suite.location.file}.`);
  }
  return {
    ...before.policy,
    required: [
      ...before.policy.required,
      ...required
        .filter((item) => !gone.includes(item))
        .map(({ id, location }) => ({ name: id, value: true as const, source: `${location.file}:${location.line}` })),
    ],
  };
}

function listDemands({ policy, cases }: Suite): unknown {
  return { policy, required: cases.filter(({ isRequired }) => isRequired).map(({ id }) => id) };
}

function stripFile({ common, quarantine, suites }: PolicyFile): unknown {
  return { common, quarantine, suites };
}

function describeChange(
  what: string,
  { name, noun }: { name: string; noun: ChangeBase['noun'] },
  [before, after]: readonly [unknown, unknown],
): string[] {
  const withoutSources = (value: unknown) =>
    JSON.stringify(value, (key, part: unknown) => (key === 'source' ? undefined : part));
  if (withoutSources(before) === withoutSources(after)) return [];
  return [`${what} is changed by this ${noun}; that of ${name} counts.`];
}
