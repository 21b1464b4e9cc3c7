import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { ConfigurationError, type ConfigurationIssue, describeError } from '../../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage, readTextFile } from '../../base/files.ts';
import { appendAll } from '../../base/lists.ts';
import { Secret } from '../../base/redaction.ts';
import { historySource } from '../../history/lookup.ts';
import { isInheritedVariable } from '../../server/environment.ts';
import type { SandboxOptions } from '../../server/sandbox/open.ts';
import { splitCommand } from '../../server/split-command.ts';
import type { GateOptions } from '../options/schema.ts';
import { buildReportJsonSchema } from '../../model/report.ts';
import { type FindVariable, readMcpConfig } from './mcp-config.ts';
import type { PlannedSuite } from './plan-suites.ts';
import { resolveEnvironment } from './plan-variables.ts';

/** The server under test, as it is going to be started or found. */
export interface PlannedServer {
  /** What `mcp-config` calls it; null where options describe it. */
  name: string | null;
  command: string | null;
  url: string | null;
  /** Whether it is known to speak HTTP+SSE; else the gate finds out. */
  isSse: boolean;
  /** Absolute. */
  cwd: string;
  /** Added to the allow-listed environment that every server gets. Printed as names only. */
  environment: ReadonlyMap<string, Secret>;
  /** Those of the values that no output may show. */
  secrets: readonly Secret[];
  readyTimeoutMs: number;
  /** What its processes may see and change; null for all that the gate itself may. */
  sandbox: SandboxOptions | null;
}

interface ServerSources {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Takes what a file says and the gate does not do. */
  notes: string[];
}

/** Settles how the servers are started or reached; empty where the options name none. What is wrong goes to `issues`. */
export async function planServers(
  options: GateOptions,
  context: ServerSources,
  issues: ConfigurationIssue[],
): Promise<PlannedServer[]> {
  if (options.mcpConfig !== null) return await planConfiguredServers(options.mcpConfig, options, context, issues);
  const server = await planServer(options, context, issues);
  return server === null ? [] : [server];
}

/** Reads the servers of a file. A pull request may have written it, so that it gets no variable that `server-env` does not pass on. */
async function planConfiguredServers(
  path: string,
  options: GateOptions,
  context: ServerSources,
  issues: ConfigurationIssue[],
): Promise<PlannedServer[]> {
  const passed = resolveEnvironment(options.serverEnv, context.environment, issues);
  const findVariable: FindVariable = (name) => {
    const own = context.environment[name];
    const value = passed.get(name)?.reveal() ?? (isInheritedVariable(name) ? own : undefined);
    if (value !== undefined) return { value };
    return own === undefined ? undefined : 'withheld';
  };
  const text = await readConfigText(path, context.cwd, issues);
  if (text === null) return [];
  const { servers, findings, warnings } = readMcpConfig(text, { file: path, names: options.mcpServer, findVariable });
  appendAll(issues, findings);
  appendAll(context.notes, warnings);
  const passedSecrets = listSecrets(passed, options.serverEnv);
  const planned: PlannedServer[] = [];
  for (const { name, command, url, isSse, cwd: from, ...server } of servers) {
    const cwd = resolve(context.cwd, dirname(path), from ?? '.');
    const named = `server \`${name}\` of ${path}`;
    if (!(await isDirectory(cwd))) {
      const message = `the \`cwd\` of ${named} is not a directory; it is taken relative to the directory of the file`;
      issues.push({ input: 'mcp-config', code: 'no-directory', message });
    }
    if (options.sandbox === 'required' && command === null) {
      const message = `is \`required\`, and the gate cannot isolate the ${named}, which it does not start; leave it at \`auto\``;
      issues.push({ input: 'sandbox', code: 'needs-server-command', message });
    }
    if (options.sandboxNetwork === 'off' && url !== null) {
      const message = `is \`off\`, and the ${named} cannot be reached at its \`url\` without a network; leave it \`on\``;
      issues.push({ input: 'sandbox-network', code: 'network-and-url', message });
    }
    const environment = hideValues(server.environment);
    const written = [...environment, ...hideValues(server.headers)].filter(([key, value]) => isSecret(key, value));
    const secrets = [...passedSecrets, ...keepDistinct(written.map(([, value]) => value)), ...listUrlSecrets(url)];
    const readyTimeoutMs = options.serverReadyTimeout;
    planned.push({ name, command, url, isSse, cwd, environment, secrets, readyTimeoutMs, sandbox: null });
  }
  return planned;
}

/** Null where it cannot be read, which goes to `issues`. */
async function readConfigText(path: string, cwd: string, issues: ConfigurationIssue[]): Promise<string | null> {
  if (await leadsOutOfCheckout(path, cwd)) {
    issues.push({ file: path, line: 1, column: 1, code: 'link-out-of-checkout', message: linkOutMessage });
    return null;
  }
  try {
    return await readTextFile(resolve(cwd, path));
  } catch (error) {
    const message = `${JSON.stringify(path)} cannot be read: ${describeError(error)}`;
    issues.push({ input: 'mcp-config', code: 'unreadable-mcp-config', message });
    return null;
  }
}

function hideValues(values: ReadonlyMap<string, string>): Map<string, Secret> {
  return new Map([...values].map(([name, value]) => [name, new Secret(value)]));
}

/** Settles how the one server of the options is started; null where they name none. */
async function planServer(
  options: GateOptions,
  context: Omit<ServerSources, 'notes'>,
  issues: ConfigurationIssue[],
): Promise<PlannedServer | null> {
  const { serverCommand: command, serverUrl: url } = options;
  if (command === null && url === null) return null;
  if (command !== null) appendAll(issues, findCommandIssues(command));
  const environment = resolveEnvironment(options.serverEnv, context.environment, issues);
  const cwd = resolve(context.cwd, options.serverCwd ?? '.');
  if (!(await isDirectory(cwd))) {
    const message = `${JSON.stringify(options.serverCwd ?? '.')} is not a directory; it is taken relative to the working directory, so check the path and that an earlier step makes it`;
    issues.push({ input: 'server-cwd', code: 'no-directory', message });
  }
  const secrets = [...listSecrets(environment, options.serverEnv), ...listUrlSecrets(url)];
  const readyTimeoutMs = options.serverReadyTimeout;
  return { name: null, command, url, isSse: false, cwd, environment, secrets, readyTimeoutMs, sandbox: null };
}

function findCommandIssues(command: string): readonly ConfigurationIssue[] {
  try {
    splitCommand(command);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues;
    throw error;
  }
}

/** What the job passes through is often a secret of it, and what a workflow writes out only where it is called one. */
const secretName = /key|token|secret|pass|pwd|credential|auth|private|signature|cookie|dsn/i;
const urlWithPassword = /:\/\/[^/?#\s]*:[^/?#\s]+@/;

function listSecrets(environment: ReadonlyMap<string, Secret>, written: GateOptions['serverEnv']): Secret[] {
  const secrets = [...environment]
    .filter(([name, value]) => written.get(name) === null || isSecret(name, value))
    .map(([, value]) => value);
  return keepDistinct(secrets);
}

function keepDistinct(secrets: readonly Secret[]): Secret[] {
  if (secrets.length === 0) return [];
  // `failed` hides nothing, and taken out of everything it would take the verdict along.
  const vocabulary = JSON.stringify(buildReportJsonSchema());
  return secrets.filter((secret) => !vocabulary.includes(secret.reveal()));
}

function isSecret(name: string, value: Secret): boolean {
  return secretName.test(name) || urlWithPassword.test(value.reveal());
}

/** Of the query: whole, and the values whose names say that they are secret. */
function listUrlSecrets(url: string | null): Secret[] {
  const parsed = URL.parse(url ?? '');
  if (parsed === null || parsed.search === '') return [];
  const values = [...parsed.searchParams].filter(([name]) => secretName.test(name)).map(([, value]) => value);
  return [parsed.search, ...values].map((text) => new Secret(text));
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}

/** Files by which a step passes values to the runner, and the event that started the workflow. */
const runnerFiles = [
  'GITHUB_OUTPUT',
  'GITHUB_STATE',
  'GITHUB_STEP_SUMMARY',
  'GITHUB_ENV',
  'GITHUB_PATH',
  'GITHUB_EVENT_PATH',
];

/**
 * Of all that the server could write to, lists what the verdict, the next gates and the next steps depend on. What is wrong goes to
 * `issues`.
 */
export async function planSandbox(
  options: Pick<
    GateOptions,
    'sandbox' | 'sandboxNetwork' | 'sandboxWrite' | 'mcpConfig' | 'policy' | 'baseline' | 'historyPath' | 'shard'
  >,
  {
    cwd,
    serverCwd,
    environment,
    suites,
    reportDir,
  }: {
    cwd: string;
    serverCwd: string;
    environment: Readonly<Record<string, string | undefined>>;
    suites: readonly PlannedSuite[];
    reportDir: string;
  },
  issues: ConfigurationIssue[],
): Promise<SandboxOptions> {
  const writable = options.sandboxWrite.map((path) => resolve(cwd, path));
  for (const [index, path] of writable.entries()) {
    if ((await stat(path).catch(() => null)) !== null) continue;
    const message = `${JSON.stringify(options.sandboxWrite[index])} does not exist; it is taken relative to the working directory, so check the path and that an earlier step makes it`;
    issues.push({ input: 'sandbox-write', code: 'no-path', message });
  }
  const { baseline, historyPath, mcpConfig, policy } = options;
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite.location.file] : []));
  // A policy that a program passes is in no file.
  const policyPath = typeof policy === 'string' ? policy : null;
  const past = [
    mcpConfig,
    policyPath,
    historyPath,
    baseline !== null && historySource.test(baseline) ? null : baseline,
  ];
  const inputs = [...files, ...past.filter((path) => path !== null)].map((path) => resolve(cwd, path));
  const work = [cwd, serverCwd, environment['HOME'], environment['TMPDIR'], '/tmp'].filter(
    (path) => path !== undefined,
  );
  const runner = runnerFiles.flatMap((name) => {
    const path = environment[name] ?? '';
    if (!isAbsolute(path)) return [];
    // A process that can write to the directory can put another file under the name.
    const directory = dirname(path);
    return work.some((other) => `${other}${sep}`.startsWith(`${directory}${sep}`)) ? [path] : [directory];
  });
  // A shard adds nothing to the history.
  const history = historyPath === null || options.shard !== null ? [] : [resolve(cwd, historyPath)];
  const isOwnDir = reportDir !== cwd && reportDir !== serverCwd;
  return {
    mode: options.sandbox,
    network: options.sandboxNetwork,
    writable,
    protect: [...inputs, ...(isOwnDir ? [reportDir] : []), ...runner],
    make: { directories: isOwnDir ? [reportDir] : [], files: history },
  };
}
