import type { ConfigurationIssue } from '../../base/errors.ts';
import { createFindings } from '../../base/findings.ts';
import { isLoopback } from '../../http/url.ts';
import type { Secret } from '../../base/redaction.ts';
import type { GateOptions } from '../options/schema.ts';
import { createBaseTree, findBase } from './base-tree.ts';
import { readCiJob } from './ci-job.ts';
import { type FindVariable, type McpConfigServer, readMcpConfig } from './mcp-config.ts';

interface HostSources {
  /** The path of the file with the servers. */
  path: string;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The variables that `server-env` passes on, by name. */
  variables: ReadonlyMap<string, Secret>;
  findVariable: FindVariable;
}

/**
 * Finds servers to which the file of a pull request would send a variable of `server-env`, at a host that neither the file in the base nor
 * `allow-env-hosts` names. If a variable is a URL, the job itself chose its host, which is allowed.
 */
export async function findForeignHosts(
  servers: readonly McpConfigServer[],
  options: GateOptions,
  { path, cwd, environment, variables, findVariable }: HostSources,
): Promise<ConfigurationIssue[]> {
  const chosen = [...variables.values()].flatMap((value) => readHost(value.reveal()) ?? []);
  const known = new Set([...options.allowEnvHosts.map((host) => host.toLowerCase()), ...chosen]);
  const isSent = ({ sentVariables }: McpConfigServer) => [...sentVariables].some((name) => variables.has(name));
  const suspects = servers.flatMap((server) => {
    const host = isSent(server) ? readHost(server.url) : null;
    return host === null || known.has(host) ? [] : [{ server, host }];
  });
  if (suspects.length === 0) return [];
  const ci = await readCiJob(options, { cwd, environment });
  // Without a pull or merge request, the file belongs to a branch that has been reviewed.
  if (ci.base === null) return [];
  const inBase = await readBaseHosts(path, { ci, cwd, environment, findVariable, token: options.githubToken });
  return suspects
    .filter(({ host }) => !inBase.has(host))
    .map(({ server: { name, sentVariables }, host }) => {
      const names = [...sentVariables].filter((each) => variables.has(each)).join(', ');
      const message = `the server \`${name}\` of ${path} would get ${names} of \`server-env\` at ${describeHost(host, variables)} that the file does not name in the base; add the host to \`allow-env-hosts\` if it is to get that`;
      return { input: 'mcp-config', code: 'foreign-env-host', message };
    });
}

/**
 * Describes a host without any value that is part of it, because the redactor does not know the values yet. Hides Punycode names, which
 * would show a value in another form.
 */
function describeHost(host: string, variables: ReadonlyMap<string, Secret>): string {
  const isPart = [...variables.values()].some((value) => host.includes(value.reveal().toLowerCase()));
  return isPart || host.includes('xn--') ? 'a host with a variable in its name' : `${host}, a host`;
}

/** Reads the hosts of the file in the base; none if it cannot be read. */
async function readBaseHosts(
  path: string,
  { findVariable, ...sources }: Parameters<typeof findBase>[1] & { findVariable: FindVariable },
): Promise<ReadonlySet<string>> {
  const { base } = sources.ci;
  const found = base === null ? null : await findBase(base, sources);
  if (found === null || 'problem' in found) return new Set();
  const file = await createBaseTree(found.files, 'base', sources.cwd).read(path, createFindings());
  if (file.kind !== 'file') return new Set();
  // Reads all servers, also one that the change removes.
  const { servers } = readMcpConfig(file.text, { file: path, names: [], findVariable });
  return new Set(servers.flatMap(({ url }) => readHost(url) ?? []));
}

/** Reads the host and the port of a URL; null for this machine and for anything else. */
function readHost(text: string | null): string | null {
  const url = text === null ? null : URL.parse(text);
  return url === null || !/^https?:$/.test(url.protocol) || isLoopback(url.hostname) ? null : url.host;
}
