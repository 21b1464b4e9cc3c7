import { createHash } from 'node:crypto';
import type { CiJob } from './ci-job.ts';

type JobNames = Pick<CiJob, 'line' | 'isDefaultBranch' | 'label'>;

const longestServerName = 128;
const longestSuiteName = 200;

/** Names the suite of a service that an evals file is kept in. The default branch and jobs that share use the plain name. */
export function nameHostedSuite(name: string, scope: 'branch' | 'shared' | 'run', context: JobNames): string {
  if (scope === 'shared' || (scope === 'branch' && context.isDefaultBranch)) return name;
  // What runs outside any branch must not change the suite that the branches share.
  const suffix = scope === 'run' ? `run ${context.label}` : (context.line ?? 'local');
  return `${name} · ${suffix}`.slice(0, longestSuiteName);
}

/** Names the server of this job so that no other job has the name: readable first, then a digest of the invocation. */
export function nameHostedServer(context: CiJob): string {
  const readable = `mcp-eval-ci ${context.repository ?? 'local'} ${context.label}`;
  const digest = createHash('sha256').update(context.invocation).digest('hex').slice(0, 10);
  return `${readable.slice(0, longestServerName - digest.length - 1)} ${digest}`;
}
