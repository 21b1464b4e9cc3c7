import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import { Secret } from '../../base/redaction.ts';
import { listProxySecrets } from '../../http/proxy.ts';
import { historySource } from '../../history/lookup.ts';
import type { AccessOptions } from '../../server/running-server.ts';
import type { SandboxOptions } from '../../server/sandbox/open.ts';
import { splitCommand } from '../../server/split-command.ts';
import { findNearest } from '../../suite/findings.ts';
import type { GateOptions } from '../options/schema.ts';
import { buildReportJsonSchema } from '../../model/report.ts';
import { listAccessSecrets, planAccess } from './plan-access.ts';
import type { PlannedSuite } from './plan-suites.ts';

/** The server under test, as it is going to be started or found. */
export interface PlannedServer {
  command: string | null;
  url: string | null;
  /** Absolute. */
  cwd: string;
  /** Added to the allow-listed environment that every server gets. Printed as names only. */
  environment: ReadonlyMap<string, Secret>;
  /** Those of the values that no output may show. */
  secrets: readonly Secret[];
  readyTimeoutMs: number;
  /** Null where requests carry nothing to be let in. */
  access: AccessOptions | null;
  /** What its processes may see and change; null for all that the gate itself may. */
  sandbox: SandboxOptions | null;
}

/** Settles how the server is started; null where the options name none. What is wrong goes to `issues`. */
export async function planServer(
  options: GateOptions,
  context: { cwd: string; environment: Readonly<Record<string, string | undefined>> },
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
  const access = planAccess(options, context.environment, issues);
  const secrets = [
    ...listSecrets(environment, options.serverEnv),
    ...listUrlSecrets(url),
    ...keepDistinct(listAccessSecrets(options)),
    ...(access?.proxy === undefined ? [] : listProxySecrets(access.proxy)),
  ];
  const readyTimeoutMs = options.serverReadyTimeout;
  return { command, url, cwd, environment, secrets, access, readyTimeoutMs, sandbox: null };
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

function resolveEnvironment(
  variables: GateOptions['serverEnv'],
  jobEnvironment: Readonly<Record<string, string | undefined>>,
  issues: ConfigurationIssue[],
): Map<string, Secret> {
  const resolved = new Map<string, Secret>();
  for (const [name, value] of variables) {
    const found = value ?? jobEnvironment[name];
    if (found !== undefined) resolved.set(name, new Secret(found));
    else {
      const message = `${name} is to be passed through, but this job has no such variable; set it or write ${name}=value`;
      issues.push({ input: 'server-env', code: 'missing-variable', message });
    }
  }
  return resolved;
}

/** Finds variables that cases use and `server-env` does not name, and a `server-env` that neither a case nor a server gets. */
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
  // The rows of a case, and the cases with one check of their suite, share its location.
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
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
    'sandbox' | 'sandboxNetwork' | 'sandboxWrite' | 'policy' | 'baseline' | 'historyPath' | 'shard'
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
  const { baseline, historyPath, policy } = options;
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite.location.file] : []));
  // A policy that a program passes is in no file.
  const policyPath = typeof policy === 'string' ? policy : null;
  const past = [policyPath, historyPath, baseline !== null && historySource.test(baseline) ? null : baseline];
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
