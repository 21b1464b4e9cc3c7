import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import { listProxySecrets, type ProxySettings, readProxySettings } from '../../http/proxy.ts';
import type { Secret } from '../../base/redaction.ts';
import { appendAll } from '../../base/lists.ts';
import { parseApiKey, parseBaseUrl } from '../../http/url.ts';
import { type ServiceProfile, serviceProfiles } from '../../service/profile.ts';
import type { CiJob } from './ci-job.ts';
import { nameHostedServer } from './hosted-names.ts';
import type { GateOptions } from '../options/schema.ts';

/** A hosted service, and the credentials for it. */
export interface HostedService {
  baseUrl: string;
  apiKey: Secret;
  /** Id or name; null for the only one. */
  project: string | null;
  proxy: ProxySettings;
}

/** The service that executes the evals, and how it is to be spoken to. */
export interface PlannedService {
  profile: ServiceProfile;
  /** Null for the service inside this process. */
  hosted: HostedService | null;
  /** Whether it reaches the server through a tunnel. */
  isTunnelled: boolean;
  serverName: string;
  /** Whether no other job has that name, so that the record may be taken away with the tunnel. */
  isOwnServerName: boolean;
  environmentId: string | null;
  modelApiKeys: ReadonlyMap<string, Secret>;
  queueTimeoutMs: number;
  /** The keys, and what the URLs of proxies hold of them. */
  secrets: readonly Secret[];
}

/** Settles which service is used. What is wrong goes to `issues`. */
export function planService(
  options: GateOptions,
  context: { ci: CiJob; environment: Readonly<Record<string, string | undefined>> },
  issues: ConfigurationIssue[],
): PlannedService {
  const profile = serviceProfiles[options.service];
  const isTunnelled = options.tunnel === 'always' || (options.tunnel === 'auto' && options.service !== 'embedded');
  const hosted = options.service === 'embedded' ? null : planHosted(options, context.environment, issues);
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

/** Settles how a hosted service is reached; null where the options say too little. What is wrong goes to `issues`. */
export function planHosted(
  { service, baseUrl: givenUrl, apiKey, project }: Pick<GateOptions, 'service' | 'baseUrl' | 'apiKey' | 'project'>,
  environment: Readonly<Record<string, string | undefined>>,
  issues: ConfigurationIssue[],
): HostedService | null {
  const baseUrl = givenUrl ?? serviceProfiles[service].defaultBaseUrl;
  // Both were asked for with the options; without them there is nothing more to find wrong.
  if (baseUrl === null || apiKey === null) return null;
  const noProxy: ProxySettings = { httpProxy: null, httpsProxy: null, noProxy: null };
  if (collectIssues(issues, () => parseBaseUrl(baseUrl)) === undefined) return null;
  collectIssues(issues, () => parseApiKey(apiKey));
  const proxy = collectIssues(issues, () => readProxySettings(environment)) ?? noProxy;
  return { baseUrl, apiKey, project, proxy };
}

function collectIssues<T>(issues: ConfigurationIssue[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    appendAll(issues, error.issues);
    return undefined;
  }
}
