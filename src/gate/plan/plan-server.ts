import { resolve } from 'node:path';
import type { ConfigurationIssue } from '../../base/errors.ts';
import { isDirectory } from '../../base/files.ts';
import type { Findings } from '../../base/findings.ts';
import { Secret } from '../../base/redaction.ts';
import { listProxySecrets } from '../../http/proxy.ts';
import type { ServerFactory } from '../../server/in-process-server.ts';
import type { AccessOptions } from '../../server/running-server.ts';
import type { SandboxOptions } from '../../server/sandbox/open-sandbox.ts';
import { splitCommand } from '../../server/split-command.ts';
import { findNearest } from '../../suite/findings.ts';
import type { GateOptions } from '../options/schema.ts';
import { listAccessSecrets, planAccess } from './plan-access.ts';
import type { PlannedSuite } from './plan-suites.ts';
import { keepDistinct, listUrlSecrets, listVariableSecrets } from './server-secrets.ts';

/** The server under test, and how it is started or reached. */
export interface PlannedServer {
  /** Its name in `mcp-config`; null if options describe it. */
  name: string | null;
  command: string | null;
  url: string | null;
  /** Makes a server object in this process; absent if a command starts the server or it is at a URL. */
  inProcess?: ServerFactory;
  /** True if it is known to speak HTTP+SSE; else the gate finds out. */
  isSse: boolean;
  /** An absolute path. */
  cwd: string;
  /** Added to the allow-listed environment that every server gets. Printed as names only. */
  environment: ReadonlyMap<string, Secret>;
  /** The values that no output may show. */
  secrets: readonly Secret[];
  readyTimeoutMs: number;
  /** Null if requests need no credentials. */
  access: AccessOptions | null;
  /** Limits what its processes may read and write; null for no limits other than the gate's. */
  sandbox: SandboxOptions | null;
}

/** Plans how the one server of the options is started; null if they name none. */
export async function planServer(
  options: GateOptions,
  context: {
    cwd: string;
    environment: Readonly<Record<string, string | undefined>>;
    variables: ReadonlyMap<string, Secret>;
    inProcess?: ServerFactory;
  },
  findings: Findings,
): Promise<PlannedServer | null> {
  const { serverCommand: command, serverUrl: url } = options;
  const { inProcess } = context;
  if (command === null && url === null && inProcess === undefined) return null;
  if (command !== null) findings.attempt(() => splitCommand(command));
  const { variables: environment } = context;
  const cwd = resolve(context.cwd, options.serverCwd ?? '.');
  if (!(await isDirectory(cwd))) {
    const message = `${JSON.stringify(options.serverCwd ?? '.')} is not a directory; it is taken relative to the working directory, so check the path and that an earlier step makes it`;
    findings.add({ input: 'server-cwd', code: 'no-directory', message });
  }
  const access = planAccess(options, context.environment, findings);
  const secrets = [
    ...listVariableSecrets(environment, options.serverEnv),
    ...listUrlSecrets(url),
    ...keepDistinct(listAccessSecrets(options)),
    ...(access?.proxy === undefined ? [] : listProxySecrets(access.proxy)),
  ];
  const readyTimeoutMs = options.serverReadyTimeout;
  const server = { name: null, command, url, isSse: false, cwd, environment, secrets, access, readyTimeoutMs };
  return { ...server, sandbox: null, ...(inProcess && { inProcess }) };
}

/** Reads the variables that `server-env` sets and passes on. */
export function resolveEnvironment(
  variables: GateOptions['serverEnv'],
  jobEnvironment: Readonly<Record<string, string | undefined>>,
  findings: Findings,
): Map<string, Secret> {
  const resolved = new Map<string, Secret>();
  for (const [name, value] of variables) {
    const found = value ?? jobEnvironment[name];
    if (found !== undefined) resolved.set(name, new Secret(found));
    else {
      const message = `${name} is to be passed through, but this job has no such variable; set it or write ${name}=value`;
      findings.add({ input: 'server-env', code: 'missing-variable', message });
    }
  }
  return resolved;
}

/** Finds variables that cases use and `server-env` does not name, and a `server-env` that neither a case nor a server uses. */
export function findVariableIssues(
  { serverEnv, serverCommand, serverUrl }: Pick<GateOptions, 'serverEnv' | 'serverCommand' | 'serverUrl'>,
  suites: readonly PlannedSuite[],
): ConfigurationIssue[] {
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite] : []));
  const used = files.flatMap(({ cases }) => cases.flatMap(({ placeholders }) => placeholders?.variables ?? []));
  const known = [...serverEnv.keys()];
  const issues = used.flatMap(({ name, location }): ConfigurationIssue[] => {
    if (serverEnv.has(name)) return [];
    const nearest = findNearest(name, known);
    const remedy =
      nearest === undefined
        ? `add \`${name}\` to pass the job's on, or \`${name}=value\``
        : `did you mean \`${nearest}\`?`;
    const message = `\`{{env.${name}}}\` has no value, because \`server-env\` does not name ${name}; ${remedy}`;
    return [{ ...location, code: 'unknown-name', message }];
  });
  if (serverCommand === null && serverUrl !== null && known.length > 0 && used.length === 0) {
    const message = 'has no effect without `server-command`, because no case uses `{{env.NAME}}`; remove it';
    issues.push({ input: 'server-env', code: 'needs-server-command', message });
  }
  // The rows of a case share its location, and so do cases with the same check of their suite.
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
}
