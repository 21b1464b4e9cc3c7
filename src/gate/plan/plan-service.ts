import { isLoopback } from '../../http/url.ts';
import type { ConfigurationIssue } from '../../base/errors.ts';
import type { Findings } from '../../base/findings.ts';
import type { Secret } from '../../base/redaction.ts';
import { listProxySecrets, type ProxySettings, readProxySettings } from '../../http/proxy.ts';
import { parseApiKey, parseBaseUrl } from '../../http/url.ts';
import type { IngestCi } from '../../service/ingest-client.ts';
import { type ServiceProfile, serviceProfiles } from '../../service/profile.ts';
import { type GateOptions, nameJobSlot } from '../options/schema.ts';
import { type CiJob, nameHostedServer } from './ci-job.ts';
import { readRun } from './plan-github.ts';
import type { PlannedSuite } from './plan-suites.ts';

/** A hosted service, and the credentials for it. */
export interface HostedService {
  baseUrl: string;
  apiKey: Secret;
  /** An id or a name; null for the only project. */
  project: string | null;
  proxy: ProxySettings;
}

/** The service that executes the evals, and how the gate uses it. */
export interface PlannedService {
  profile: ServiceProfile;
  /** Null if the gate runs the evals in its own process. */
  hosted: HostedService | null;
  /** True if it reaches the server through a tunnel. */
  isTunnelled: boolean;
  serverName: string;
  /** True if no other job has that name, so that the record may be deleted with the tunnel. */
  isOwnServerName: boolean;
  environmentId: string | null;
  modelApiKeys: ReadonlyMap<string, Secret>;
  queueTimeoutMs: number;
  /** The keys, and the credentials in the URLs of proxies. */
  secrets: readonly Secret[];
}

/** Plans which service is used. */
export function planService(
  options: GateOptions,
  context: { ci: CiJob; environment: Readonly<Record<string, string | undefined>> },
  findings: Findings,
): PlannedService {
  const profile = serviceProfiles[options.service];
  const isTunnelled = options.tunnel === 'always' || (options.tunnel === 'auto' && options.service !== 'embedded');
  const hosted = options.service === 'embedded' ? null : planHosted(options, context.environment, findings);
  return {
    profile,
    hosted,
    isTunnelled,
    serverName: options.serverName ?? nameHostedServer(context.ci),
    isOwnServerName: options.serverName === null,
    environmentId: options.environment,
    modelApiKeys: options.modelApiKeys,
    queueTimeoutMs: options.queueTimeout,
    secrets: [
      ...(hosted === null ? [] : [hosted.apiKey, ...listProxySecrets(hosted.proxy)]),
      ...options.modelApiKeys.values(),
    ],
  };
}

/** Plans how a hosted service is reached; null if the options lack what it needs. */
export function planHosted(
  { service, baseUrl: givenUrl, apiKey, project }: Pick<GateOptions, 'service' | 'baseUrl' | 'apiKey' | 'project'>,
  environment: Readonly<Record<string, string | undefined>>,
  findings: Findings,
): HostedService | null {
  const baseUrl = givenUrl ?? serviceProfiles[service].defaultBaseUrl;
  // Reading the options has already reported a missing one.
  if (baseUrl === null || apiKey === null) return null;
  if (findings.attempt(() => parseBaseUrl(baseUrl)) === undefined) return null;
  findings.attempt(() => parseApiKey(apiKey));
  return { baseUrl, apiKey, project, proxy: planProxies(environment, findings) };
}

/** Reads the proxies of the job. */
export function planProxies(
  environment: Readonly<Record<string, string | undefined>>,
  findings: Findings,
): ProxySettings {
  const noProxy: ProxySettings = { httpProxy: null, httpsProxy: null, noProxy: null };
  return findings.attempt(() => readProxySettings(environment)) ?? noProxy;
}

/** A hosted project that is to keep the results of a gate that executes its evals itself. */
export interface PlannedUpload {
  profile: ServiceProfile;
  service: HostedService;
  /** The CI job that executes it; null if unset. */
  ci: IngestCi | null;
  /** Distinguishes this execution from every other one, including earlier and later ones of the same job. */
  invocation: ReadonlyArray<string | null>;
  tags: readonly string[];
  /** The key, and the credentials in the URLs of proxies. */
  secrets: readonly Secret[];
}

/** Plans where results are uploaded to; null for nowhere, and if the options lack what it needs. */
export function planUpload(
  options: GateOptions,
  { ci, cwd, environment }: { ci: CiJob; cwd: string; environment: Readonly<Record<string, string | undefined>> },
  findings: Findings,
): PlannedUpload | null {
  const { upload, shard } = options;
  if (upload === 'off') return null;
  const service = planHosted({ ...options, service: upload }, environment, findings);
  if (service === null) return null;
  const jobSlot = nameJobSlot(options);
  return {
    profile: serviceProfiles[upload],
    service,
    ci: describeCi(ci, { cwd, environment, jobSlot }),
    // The machine's name distinguishes scripts of a matrix that do not name their job.
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

/**
 * Finds a server that the service cannot reach without a tunnel: another machine has its own loopback, and a stdio server is only on this
 * machine.
 */
export function findUnreachableServer(
  { hosted, isTunnelled }: PlannedService,
  server: { url: string | null },
): ConfigurationIssue[] {
  if (isTunnelled || hosted === null || isLoopback(new URL(hosted.baseUrl).hostname)) return [];
  const url = URL.parse(server.url ?? '');
  if (url !== null && !isLoopback(url.hostname)) return [];
  const message = 'is never, but the service cannot reach a server that only this machine can; leave it at auto';
  return [{ input: 'tunnel', code: 'server-out-of-reach', message }];
}

/**
 * Finds requested revisions that cannot be enforced: a hosted service negotiates with the server by itself, and its API has no field for a
 * revision.
 */
export function findUnenforceablePins(
  { hosted, profile }: PlannedService,
  { options, suites }: { options: Pick<GateOptions, 'protocol'>; suites: readonly PlannedSuite[] },
): ConfigurationIssue[] {
  if (hosted === null) return [];
  const why = `cannot be enforced, because the service ${profile.name} chooses the revision itself`;
  const isPinned = options.protocol !== null && options.protocol !== 'auto';
  if (isPinned) {
    const message = `${why}; leave it out, or use \`service: embedded\``;
    return [{ input: 'protocol', code: 'needs-embedded-service', message }];
  }
  const remedy = 'set the key to auto, override it with the flag `--protocol auto`, or use `service: embedded`';
  return suites.flatMap((planned): ConfigurationIssue[] => {
    if (planned.kind === 'stored' || planned.protocol.value === 'auto') return [];
    const message = `\`protocol: ${planned.protocol.value}\` ${why}; ${remedy}`;
    const [, file = planned.suite.location.file, line = ''] = /^(.*):(\d+)$/.exec(planned.protocol.source) ?? [];
    return [{ file, line: Number(line), column: 1, code: 'needs-embedded-service', message }];
  });
}
