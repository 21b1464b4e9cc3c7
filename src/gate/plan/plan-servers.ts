import { dirname, resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import { isDirectory, leadsOutOfCheckout, linkOutMessage, readTextFile } from '../../base/files.ts';
import type { Findings } from '../../base/findings.ts';
import { Secret } from '../../base/redaction.ts';
import { linkPage } from '../../base/version.ts';
import { isInheritedVariable } from '../../server/environment.ts';
import type { ServerFactory } from '../../server/in-process-server.ts';
import type { GateOptions } from '../options/schema.ts';
import type { McpConfigOption } from '../options/server-under-test.ts';
import type { ElevatedEvent } from './ci-job.ts';
import { type FindVariable, readMcpConfig } from './mcp-config.ts';
import { listAccessSecrets } from './plan-access.ts';
import { type PlannedServer, planServer, resolveEnvironment } from './plan-server.ts';
import { isSecret, keepDistinct, listUrlSecrets, listVariableSecrets } from './server-secrets.ts';

interface PlannedServers {
  /** Empty if the options name none. */
  servers: PlannedServer[];
  /** The variables that `server-env` passes on, by name. */
  variables: ReadonlyMap<string, Secret>;
}

interface ServerSources {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  inProcess?: ServerFactory;
}

/** Plans how the servers are started or reached. */
export async function planServers(
  options: GateOptions,
  context: ServerSources,
  findings: Findings,
): Promise<PlannedServers> {
  const variables = resolveEnvironment(options.serverEnv, context.environment, findings);
  if (options.mcpConfig === null) {
    const server = await planServer(options, { ...context, variables }, findings);
    return { servers: server === null ? [] : [server], variables };
  }
  const servers = await planConfiguredServers(options.mcpConfig, options, { ...context, variables }, findings);
  return { servers, variables };
}

/**
 * Reads the servers of a file. A pull request may have written it, so it gets only variables that `server-env` passes on or that every
 * server inherits.
 */
async function planConfiguredServers(
  { path, names }: McpConfigOption,
  options: GateOptions,
  context: ServerSources & { variables: ReadonlyMap<string, Secret> },
  findings: Findings,
): Promise<PlannedServer[]> {
  const findVariable: FindVariable = (name) => {
    const own = context.environment[name];
    const value = context.variables.get(name)?.reveal() ?? (isInheritedVariable(name) ? own : undefined);
    if (value !== undefined) return { value };
    return own === undefined ? undefined : 'withheld';
  };
  const text = await readConfigText(path, context.cwd, findings);
  if (text === null) return [];
  const { servers, issues, warnings } = readMcpConfig(text, { file: path, names, findVariable });
  findings.addAll(issues);
  findings.noteAll(warnings);
  if (servers.some(({ url, sentVariables }) => url !== null && sentVariables.size > 0)) {
    const { findForeignHosts } = await import('./env-hosts.ts');
    findings.addAll(await findForeignHosts(servers, options, { ...context, path, findVariable }));
  }
  const passedSecrets = listVariableSecrets(context.variables, options.serverEnv);
  const planned: PlannedServer[] = [];
  for (const { name, command, url, isSse, cwd: from, ...server } of servers) {
    const cwd = resolve(context.cwd, dirname(path), from ?? '.');
    const named = `server \`${name}\` of ${path}`;
    if (!(await isDirectory(cwd))) {
      const message = `the \`cwd\` of ${named} is not a directory; it is taken relative to the directory of the file`;
      findings.add({ input: 'mcp-config', code: 'no-directory', message });
    }
    if (options.sandbox === 'required' && command === null) {
      const message = `is \`required\`, and the gate cannot isolate the ${named}, which it does not start; leave it at \`auto\``;
      findings.add({ input: 'sandbox', code: 'needs-server-command', message });
    }
    if (options.sandboxNetwork === 'off' && url !== null) {
      const message = `is \`off\`, and the ${named} cannot be reached at its \`url\` without a network; leave it \`on\``;
      findings.add({ input: 'sandbox-network', code: 'network-and-url', message });
    }
    const environment = hideValues(server.environment);
    const headers = hideValues(server.headers);
    const isNamed = ([key, value]: [string, Secret]) => isSecret(key, value);
    const serverHeaders = new Map([...headers].filter(isNamed));
    const secrets = [
      ...passedSecrets,
      ...keepDistinct([...environment].filter(isNamed).map(([, value]) => value)),
      ...keepDistinct(listAccessSecrets({ serverHeaders, serverOauthSecret: null })),
      ...listUrlSecrets(url),
    ];
    const access = headers.size === 0 ? null : { headers, oauth: null, proxy: undefined };
    const readyTimeoutMs = options.serverReadyTimeout;
    planned.push({ name, command, url, isSse, cwd, environment, secrets, access, readyTimeoutMs, sandbox: null });
  }
  return planned;
}

/** Null if the file cannot be read. */
async function readConfigText(path: string, cwd: string, findings: Findings): Promise<string | null> {
  if (await leadsOutOfCheckout(path, cwd)) {
    findings.add({ file: path, line: 1, column: 1, code: 'link-out-of-checkout', message: linkOutMessage });
    return null;
  }
  try {
    return await readTextFile(resolve(cwd, path));
  } catch (error) {
    const message = `${JSON.stringify(path)} cannot be read: ${describeError(error)}`;
    findings.add({ input: 'mcp-config', code: 'unreadable-mcp-config', message });
    return null;
  }
}

function hideValues(values: ReadonlyMap<string, string>): Map<string, Secret> {
  return new Map([...values].map(([name, value]) => [name, new Secret(value)]));
}

/**
 * Reports the risk of starting a server on an event that gives the job secrets and that other people can cause. A file of the pull request
 * could also send what it gets to a server that it names.
 */
export function checkElevatedEvent(
  { serverCommand, mcpConfig, allowPullRequestTarget }: GateOptions,
  event: ElevatedEvent | null,
  findings: Findings,
): void {
  if (event === null || (serverCommand === null && mcpConfig === null)) return;
  const input = mcpConfig === null ? 'server-command' : 'mcp-config';
  const isRefused = event === 'pull_request_target' && !allowPullRequestTarget;
  if (isRefused) findings.add({ input, code: 'pull-request-target', message: refusedEventMessage });
  else findings.note(explainElevatedEvent(event, input));
}

function explainElevatedEvent(event: ElevatedEvent, input: string): string {
  return `\`${input}\` starts a server on ${event}, where the job has the secrets of this repository and a token that may write, although others can cause the event. If a pull request can change what is built or started, its author gets both. Start it on pull_request, and comment on its report with \`publish\`. See "Two jobs" in ${linkPage('hardening.md')}`;
}

const refusedEventMessage =
  'would run on pull_request_target, where code of a pull request gets the secrets and the token of this repository; use pull_request, or set `allow-pull-request-target` where the server is not built from the pull request';
