import type { ConfigurationIssue } from '../../base/errors.ts';
import { listProxySecrets } from '../../http/proxy.ts';
import type { Secret } from '../../base/redaction.ts';
import type { IngestCi } from '../../service/ingest.ts';
import { type ServiceProfile, serviceProfiles } from '../../service/profile.ts';
import type { CiJob } from './ci-job.ts';
import { nameJobSlot } from '../options/job-slot.ts';
import type { GateOptions } from '../options/schema.ts';
import { readRun } from './plan-github.ts';
import { type HostedService, planHosted } from './plan-service.ts';

/** A hosted project that is to keep the results of a gate whose evals are executed here. */
export interface PlannedUpload {
  profile: ServiceProfile;
  service: HostedService;
  /** Where it is executed; null if unset. */
  ci: IngestCi | null;
  /** Distinguishes this execution from every other one, including those of the same job before and after it. */
  invocation: ReadonlyArray<string | null>;
  tags: readonly string[];
  /** The key, and what the URLs of proxies hold of them. */
  secrets: readonly Secret[];
}

/** Settles where results are uploaded to; null where the options have something wrong. What is wrong goes to `issues`. */
export function planUpload(
  options: GateOptions & { upload: 'svc' | 'mcpjam' },
  { ci, cwd, environment }: { ci: CiJob; cwd: string; environment: Readonly<Record<string, string | undefined>> },
  issues: ConfigurationIssue[],
): PlannedUpload | null {
  const service = planHosted({ ...options, service: options.upload }, environment, issues);
  if (service === null) return null;
  const { shard } = options;
  const jobSlot = nameJobSlot(options);
  return {
    profile: serviceProfiles[options.upload],
    service,
    ci: describeCi(ci, { cwd, environment, jobSlot }),
    // Scripts of a matrix that do not say which job they are have the name of the machine to tell them apart.
    invocation: [
      ci.invocation,
      environment['RUNNER_NAME'] ?? null,
      shard === null ? null : `${shard.index}/${shard.total}`,
    ],
    tags: [
      'mcp-eval-ci',
      ...(ci.line === null ? [] : [ci.line]),
      ...(shard === null ? [] : [`shard ${shard.index}/${shard.total}`]),
    ],
    secrets: [service.apiKey, ...listProxySecrets(service.proxy)],
  };
}

function describeCi(
  { system, repository, commit, build }: CiJob,
  {
    cwd,
    environment,
    jobSlot,
  }: { cwd: string; environment: Readonly<Record<string, string | undefined>>; jobSlot: string | null },
): IngestCi | null {
  if (system === null || (system === 'github' && repository === null)) return null;
  const page = system === 'github' ? readRun(environment, { cwd, jobSlot }).page : null;
  const url = page === null ? build.url : page.run?.url;
  const job = [build.job || 'job', ...(jobSlot === null ? [] : [jobSlot])].join(' ');
  return {
    provider: system,
    ...(build.id === null ? {} : { pipelineId: build.id }),
    jobId: job,
    ...(url == null ? {} : { runUrl: url }),
    ...(build.branch === null ? {} : { branch: build.branch }),
    ...(commit === null ? {} : { commitSha: commit }),
  };
}
