import type { ConfigurationIssue } from '../../base/errors.ts';
import { findBaseIssues, hasBase } from './base.ts';
import { findSandboxIssues, findServerIssues, idleWithoutCommand } from './server-contradictions.ts';
import { type GateOptions, readServiceBaseline, type ServiceBaseline } from './schema.ts';

/** Finds options that are valid by themselves and contradict each other. */
export function findContradictions(options: GateOptions): ConfigurationIssue[] {
  const { merge, publish } = options;
  if (publish !== null) return findIdleOptions('publish', options, 'posts a report and runs nothing');
  const common = [...findBaselineIssues(options), ...findPublishIssues(options)];
  if (merge.length > 0) return [...findIdleOptions('merge', options, 'joins reports and runs nothing'), ...common];
  return [
    ...findEvalsIssues(options),
    ...findServerIssues(options),
    ...findSandboxIssues(options),
    ...findServiceIssues(options),
    ...findUploadIssues(options),
    ...common,
    ...findShardIssues(options),
    ...findBaseIssues(options),
    ...findConcurrencyIssues(options),
    ...findPolicyIssues(options),
  ];
}

/** Finds contradictions for the command `tunnel`, which runs nothing. */
export function findTunnelContradictions(options: GateOptions): ConfigurationIssue[] {
  return [...findDoctorContradictions(options), ...findServiceIssues(options)];
}

/** Finds contradictions for commands that only use a server. */
export function findDoctorContradictions(options: GateOptions): ConfigurationIssue[] {
  const { serverCommand, serverEnv } = options;
  const hasIdleVariables = serverCommand === null && serverEnv.size > 0;
  const idle = hasIdleVariables ? [issue('server-env', 'needs-server-command', idleWithoutCommand)] : [];
  return [...findServerIssues(options), ...idle];
}

const issue = (input: string, code: string, message: string): ConfigurationIssue => ({ input, code, message });

function findEvalsIssues({ evals, tests, suite, service, tags }: GateOptions): ConfigurationIssue[] {
  const hasEvals = evals.length > 0 || tests !== null;
  if (suite === null) {
    if (hasEvals) return [];
    return [
      issue(
        'evals',
        'missing-evals',
        'nothing to run; give `evals` (a path or glob) or `tests` (cases written in place)',
      ),
    ];
  }
  const issues: ConfigurationIssue[] = [];
  if (hasEvals) {
    issues.push(
      issue('suite', 'suite-and-evals', 'runs a suite of the service as it stands; give it or evals, not both'),
    );
  }
  if (service === 'embedded') {
    issues.push(
      issue(
        'suite',
        'needs-hosted-service',
        'names a suite of a hosted service; say which with `service`, or give `evals`',
      ),
    );
  }
  if (tags.length > 0) {
    issues.push(
      issue('tags', 'suite-without-tags', 'a suite of the service has no tags; choose its cases with `cases`'),
    );
  }
  return issues;
}

/** Finds options about what to run next to a command that only reads reports. */
function findIdleOptions(name: 'merge' | 'publish', options: GateOptions, what: string): ConfigurationIssue[] {
  const {
    evals,
    tests,
    suite,
    cases,
    tags,
    runs,
    shard,
    concurrency,
    dryRun,
    serverCommand,
    serverUrl,
    mcpConfig,
    protocol,
  } = options;
  const single = {
    tests,
    suite,
    runs,
    shard,
    concurrency,
    'server-command': serverCommand,
    'server-url': serverUrl,
    'mcp-config': mcpConfig,
    protocol,
  };
  const lists = { evals, cases, tags };
  const given = [
    ...Object.entries(single).flatMap(([name, value]) => (value === null ? [] : [`\`${name}\``])),
    ...Object.entries(lists).flatMap(([name, list]) => (list.length === 0 ? [] : [`\`${name}\``])),
  ];
  if (dryRun) given.push('`dry-run`');
  if (options.upload !== 'off') given.push('`upload`');
  if (hasBase(options)) given.push('`base`');
  if (name === 'publish' && options.merge.length > 0) given.push('`merge`');
  // Refuses a check run or issue for a report that cannot be verified, because the repository would vouch for it.
  if (name === 'publish' && options.reportTo.checkRun) given.push('`report-to: check-run`');
  if (name === 'publish' && options.reportTo.issue) given.push('`report-to: issue`');
  if (given.length === 0) return [];
  return [issue(name, `${name}-and-run`, `${what}; leave out ${given.join(', ')}`)];
}

function findPublishIssues({ pullNumber }: GateOptions): ConfigurationIssue[] {
  if (pullNumber === null) return [];
  return [issue('pull-number', 'needs-publish', 'is the pull request of a report to `publish`; name that, too')];
}

function findShardIssues({ shard, suite, baseline }: GateOptions): ConfigurationIssue[] {
  if (shard === null) return [];
  const issues: ConfigurationIssue[] = [];
  if (suite !== null) {
    issues.push(issue('shard', 'shard-without-evals', 'cuts evals files; a `suite` of the service is run whole'));
  }
  if (baseline !== null) {
    const message = 'is compared with the whole, and a shard is a part; give it where the shards are merged';
    issues.push(issue('baseline', 'shard-and-baseline', message));
  }
  return issues;
}

/** Hosted services have no setting for concurrency. */
function findConcurrencyIssues({ concurrency, service }: GateOptions): ConfigurationIssue[] {
  if (concurrency === null || service === 'embedded') return [];
  const message = `applies to the embedded service; the service ${service} decides itself how many iterations run at the same time. Leave it out, or use \`service: embedded\``;
  return [issue('concurrency', 'needs-embedded-service', message)];
}

/** Finds a `base-ref` that has no effect. */
function findPolicyIssues({ baseRef, policyRef, base }: GateOptions): ConfigurationIssue[] {
  if (baseRef === null || policyRef === 'base' || base?.isGit === true) return [];
  const message = 'has no effect with `policy-ref: head`; set `policy-ref: base` or `base: git`, or remove it';
  return [issue('base-ref', 'needs-policy-ref', message)];
}

/** Finds mistakes of the baseline. Judging a report again needs no other check. */
export function findBaselineIssues(options: GateOptions): ConfigurationIssue[] {
  const { baseline, historyPath } = options;
  const inService = readServiceBaseline(options);
  if (inService !== null) return findServiceBaselineIssues(inService, options);
  const [, kind, name = ''] = /^(branch|commit|run):(.*)$/.exec(baseline ?? '') ?? [];
  if (kind === undefined) return [];
  if (kind === 'run') {
    const message = 'names a run of a hosted service, and there is none; give the path of a report.json';
    return [issue('baseline', 'needs-hosted-service', message)];
  }
  const issues: ConfigurationIssue[] = [];
  if (historyPath === null) {
    const message = `names a gate of the history; say with \`history-path\` where that is, or give the path of a report.json`;
    issues.push(issue('baseline', 'needs-history-path', message));
  }
  const isRight = kind === 'branch' ? name.trim() !== '' : /^[0-9a-f]{7,64}$/.test(name);
  if (!isRight) {
    const message = `${JSON.stringify(baseline)} names no ${kind}; write branch:main, or commit: and 7 to 64 digits of its hash`;
    issues.push(issue('baseline', 'bad-baseline', message));
  }
  return issues;
}

function findServiceBaselineIssues(
  { branch, runId }: ServiceBaseline,
  { suite, suiteScope }: GateOptions,
): ConfigurationIssue[] {
  if (branch === null) {
    if (/^[\w-]{1,128}$/.test(runId ?? '')) return [];
    return [issue('baseline', 'bad-baseline', `${JSON.stringify(runId)} is not the id of a run`)];
  }
  if (suite !== null) {
    const message = 'names a branch, and a `suite` of the service belongs to none; name one of its runs with run:<id>';
    return [issue('baseline', 'baseline-of-suite', message)];
  }
  if (suiteScope === 'branch') return [];
  const message = `names a branch, and with \`suite-scope: ${suiteScope}\` no suite belongs to one; name a run with run:<id>, or keep a \`history-path\``;
  return [issue('baseline', 'baseline-without-branches', message)];
}

function findServiceIssues(options: GateOptions): ConfigurationIssue[] {
  const { service, serverName } = options;
  const issues: ConfigurationIssue[] = [];
  if (serverName !== null && serverName.length > 128) {
    issues.push(
      issue('server-name', 'bad-server-name', `has ${serverName.length} characters; at most 128 are allowed`),
    );
  }
  // The embedded service ignores these options, so that one workflow can choose the service by the available secrets.
  if (service === 'embedded') return issues;
  return [...issues, ...findAccessIssues(service, options, { elsewhere: 'service: embedded' })];
}

/** Only the embedded service stores no results. A hosted service already has those of its runs. */
function findUploadIssues(options: GateOptions): ConfigurationIssue[] {
  const { service, upload } = options;
  if (upload === 'off') return [];
  if (service === 'embedded') return findAccessIssues(upload, options, { elsewhere: 'upload: off' });
  const message = `brings results of the embedded service to a hosted one, and runs of the service ${service} are there already; leave it out`;
  return [issue('upload', 'needs-embedded-service', message)];
}

function findAccessIssues(
  service: string,
  { apiKey, baseUrl }: GateOptions,
  { elsewhere }: { elsewhere: string },
): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = [];
  if (apiKey === null) {
    const message = `is needed by the service ${service}; pass it from a secret, or set MCP_EVAL_API_KEY for the command. Workflows of forks and of Dependabot get no secrets: use \`${elsewhere}\` there`;
    issues.push(issue('api-key', 'missing-api-key', message));
  }
  if (baseUrl === null && service === 'svc') {
    issues.push(
      issue('base-url', 'missing-base-url', 'is needed by the service svc; write one such as https://host/api/v1'),
    );
  }
  return issues;
}
