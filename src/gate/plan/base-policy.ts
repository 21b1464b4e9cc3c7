import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import type { Secret } from '../../base/redaction.ts';
import type { PolicyFile, PolicyLayer } from '../../model/policy.ts';
import type { Suite } from '../../model/suite.ts';
import { readSuite } from '../../suite/read.ts';
import { readPolicy } from '../../suite/read-policy.ts';
import type { ReadBaseFile } from './base-files.ts';

/** The policy of the branch that a pull request goes into. */
export interface BasePolicy {
  /** The policy file as the base has it; the head's own where the base has none. */
  chooseFile(path: string, own: PolicyFile | null): Promise<PolicyFile | null>;
  /** What the base's evals file demands; the head's own where the base has no such suite. */
  chooseLayer(suite: Suite): Promise<PolicyLayer>;
}

interface BaseContext {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Takes what differs between base and head. */
  notes: string[];
  /** For GitHub's API, where git does not have the base. */
  token: Secret | null;
}

const run = promisify(execFile);
const gitTimeoutMs = 30_000;
/** An evals file is at most 1 MiB. */
const maxOutputBytes = 2 * 1024 * 1024;

const payloadSchema = z.object({
  pull_request: z
    .object({ base: z.object({ sha: z.string() }) })
    .optional()
    .catch(undefined),
  merge_group: z.object({ base_sha: z.string() }).optional().catch(undefined),
});

/**
 * Opens the policy of the base branch, which git or GitHub has to have; null where the event has no base, or it could not be found,
 * which is an issue.
 */
export async function openBasePolicy(context: BaseContext, issues: ConfigurationIssue[]): Promise<BasePolicy | null> {
  const base = await findBase(context);
  if (base === null) return null;
  const found = await openFiles(base, context);
  if ('problem' in found) {
    const message = `is base, and the commit of ${base.name} is not here: ${found.problem}; give actions/checkout \`fetch-depth: 0\`, or take the policy as checked out with \`policy-ref: head\``;
    issues.push({ input: 'policy-ref', code: 'base-not-fetched', message });
    return null;
  }
  const { read } = found;
  const { notes } = context;
  return {
    chooseFile: async (path, own) => {
      const text = await read(path);
      if (text === null) {
        notes.push(`${base.name} has no ${path} yet, so that the policy file of this change counts.`);
        return own;
      }
      const { policy, findings } = readPolicy(text, { file: `${base.name}:${path}` });
      // A base that is not valid would otherwise be a way around it.
      issues.push(...findings);
      if (policy !== null) notes.push(...describeChange(path, base.name, [stripFile(policy), own && stripFile(own)]));
      return policy;
    },
    chooseLayer: async (suite) => {
      const { file } = suite.location;
      const text = file === inlineTests ? null : await read(file);
      const before = text === null ? null : readSuite(text, { file: `${base.name}:${file}` }).suite;
      if (before === null) {
        const why = text === null ? `${base.name} has no ${file}` : `${file} of ${base.name} cannot be read`;
        notes.push(`${why}, so that its own policy counts.`);
        return suite.policy;
      }
      const layer = demandRequired(before, suite, notes, base.name);
      notes.push(...describeChange(`The policy in ${file}`, base.name, [listDemands(before), listDemands(suite)]));
      return layer;
    },
  };
}

/** What tests written in place are called; they are part of the workflow. */
const inlineTests = 'tests';

/** From git, which needs no permission; else from GitHub. */
async function openFiles(
  base: FoundBase,
  { cwd, environment, token }: BaseContext,
): Promise<{ read: ReadBaseFile } | { problem: string }> {
  const found = await findCommit(base.commits, cwd);
  if ('commit' in found) return { read: (path) => readBlob(found.commit, path, cwd) };
  if (token === null || (environment['GITHUB_REPOSITORY'] ?? '') === '') return found;
  const { openRemoteBase } = await import('./base-files.ts');
  const remote = await openRemoteBase(base.remoteRef, { cwd, environment, token });
  return 'problem' in remote ? { problem: `${found.problem}; ${remote.problem}` } : remote;
}

interface FoundBase {
  name: string;
  /** What git may know it by. */
  commits: string[];
  /** What GitHub knows it by. */
  remoteRef: string;
}

async function findBase({ environment }: BaseContext): Promise<FoundBase | null> {
  const path = environment['GITHUB_EVENT_PATH'];
  const ref = environment['GITHUB_BASE_REF'] ?? '';
  const payload = path === undefined ? {} : await readPayload(path);
  const sha = payload.pull_request?.base.sha ?? payload.merge_group?.base_sha;
  const commits = [
    ...(sha !== undefined && /^[0-9a-f]{40,64}$/.test(sha) ? [sha] : []),
    ...(ref === '' ? [] : [`refs/remotes/origin/${ref}`]),
  ];
  const [first] = commits;
  if (first === undefined) return null;
  return { name: ref === '' ? 'base' : ref, commits, remoteRef: first.replace(/^refs\/remotes\/origin\//, 'heads/') };
}

async function readPayload(path: string): Promise<z.output<typeof payloadSchema>> {
  try {
    return payloadSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return {};
  }
}

async function findCommit(
  candidates: readonly string[],
  cwd: string,
): Promise<{ commit: string } | { problem: string }> {
  let problem = '';
  for (const candidate of candidates) {
    try {
      const commit = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${candidate}^{commit}`], cwd);
      return { commit: commit.trim() };
    } catch (error) {
      problem = readStderr(error) || `git does not know ${candidate}`;
    }
  }
  return { problem };
}

/** Null where the commit has no such file. */
async function readBlob(commit: string, path: string, cwd: string): Promise<string | null> {
  const fromCwd = isAbsolute(path) ? relative(cwd, path) : path;
  const name = `${commit}:./${fromCwd.replaceAll('\\', '/')}`;
  try {
    await git(['cat-file', '-e', name], cwd);
  } catch {
    return null;
  }
  return await git(['cat-file', 'blob', name], cwd);
}

async function git(args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, timeout: gitTimeoutMs, maxBuffer: maxOutputBytes, encoding: 'utf8' as const };
  return (await run('git', [...args], options)).stdout;
}

function readStderr(error: unknown): string {
  const parsed = z.object({ stderr: z.string() }).safeParse(error);
  if (parsed.success && parsed.data.stderr.trim() !== '') return parsed.data.stderr.trim();
  return parsed.success ? '' : describeError(error);
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

function describeChange(what: string, name: string, [before, after]: readonly [unknown, unknown]): string[] {
  const withoutSources = (value: unknown) =>
    JSON.stringify(value, (key, part: unknown) => (key === 'source' ? undefined : part));
  if (withoutSources(before) === withoutSources(after)) return [];
  return [`${what} is changed by this pull request; that of ${name} counts.`];
}
