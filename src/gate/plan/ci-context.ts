import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** Where a gate runs, as far as names in a service depend on it. */
export interface CiContext {
  /** `owner/name`; null outside GitHub. */
  repository: string | null;
  /** What is being tested: `PR 12`, the name of a branch, or null where neither is known. */
  line: string | null;
  isDefaultBranch: boolean;
  /** Null where it is not known. */
  defaultBranch: string | null;
  /** What was checked out: of a pull request its head, since nobody can look up the merge that is tested. */
  commit: string | null;
  /** Whether the workflow runs with the rights of the repository on behalf of a pull request. */
  isPullRequestTarget: boolean;
  /** Tells this invocation from every other one; the same however often it is asked. */
  invocation: string;
  /** The same, in short and for people: `1234.1 test`. */
  label: string;
}

const payloadSchema = z.object({
  repository: z.object({ default_branch: z.string() }).optional().catch(undefined),
  pull_request: z
    .object({ number: z.number(), head: z.object({ sha: z.string() }).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/**
 * Reads the context from the variables that GitHub's runner sets and the payload of the event that started the workflow.
 * Elsewhere every invocation is its own. `jobIndex` tells jobs of a matrix apart, of which no variable tells.
 */
export async function readCiContext(
  environment: Readonly<Record<string, string | undefined>>,
  { jobIndex }: { jobIndex: string | null },
): Promise<CiContext> {
  const read = (name: string) => environment[name] || null;
  const repository = read('GITHUB_REPOSITORY');
  const runId = read('GITHUB_RUN_ID');
  if (repository === null || runId === null) {
    const invocation = randomUUID();
    const label = invocation.slice(0, 8);
    return {
      repository: null,
      line: null,
      isDefaultBranch: false,
      defaultBranch: null,
      commit: null,
      isPullRequestTarget: false,
      invocation,
      label,
    };
  }
  const attempt = read('GITHUB_RUN_ATTEMPT') ?? '1';
  const job = read('GITHUB_JOB') ?? 'job';
  // Steps of one job that use the same action differ in nothing else.
  const step = read('GITHUB_ACTION') ?? '';
  const payload = await readPayload(read('GITHUB_EVENT_PATH'));
  const branch = read('GITHUB_REF_TYPE') === 'tag' ? null : read('GITHUB_REF_NAME');
  // A merge queue tests a pull request on a branch that is made for it, and named after it.
  const queued = /^gh-readonly-queue\/.+\/pr-(\d+)-/.exec(branch ?? '')?.[1];
  const number = payload.pull_request?.number ?? queued;
  const isPullRequest = number !== undefined;
  const defaultBranch = payload.repository?.default_branch ?? null;
  return {
    repository,
    line: isPullRequest ? `PR ${number}` : branch,
    isDefaultBranch: !isPullRequest && branch !== null && branch === defaultBranch,
    defaultBranch,
    commit: payload.pull_request?.head?.sha ?? read('GITHUB_SHA'),
    isPullRequestTarget: read('GITHUB_EVENT_NAME') === 'pull_request_target',
    invocation: JSON.stringify([repository, runId, attempt, job, jobIndex ?? '', step]),
    label: `${runId}.${attempt} ${job}${jobIndex === null || jobIndex === '0' ? '' : ` ${jobIndex}`}`,
  };
}

/** An event that cannot be read names nothing; the gate itself does not depend on it. */
async function readPayload(path: string | null): Promise<z.output<typeof payloadSchema>> {
  if (path === null) return {};
  try {
    return payloadSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return {};
  }
}
