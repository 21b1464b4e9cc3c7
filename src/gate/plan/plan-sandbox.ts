import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { ConfigurationIssue } from '../../base/errors.ts';
import type { Findings } from '../../base/findings.ts';
import { findChromium } from '../../browser/find-chromium.ts';
import { historySource } from '../../history/lookup.ts';
import type { SandboxOptions } from '../../server/sandbox/open-sandbox.ts';
import type { GateOptions } from '../options/schema.ts';
import { findRepository } from './git-checkout.ts';
import type { PlannedBase } from './plan-base.ts';
import type { PlannedServer } from './plan-server.ts';
import type { PlannedSuite } from './plan-suites.ts';

/** The files by which a step passes values to the runner, and the event that started the workflow. */
const runnerFiles = [
  'GITHUB_OUTPUT',
  'GITHUB_STATE',
  'GITHUB_STEP_SUMMARY',
  'GITHUB_ENV',
  'GITHUB_PATH',
  'GITHUB_EVENT_PATH',
];

/** Plans the sandboxes of all servers, those of the base included. */
export async function planSandboxes(
  options: GateOptions,
  {
    servers,
    base,
    reportDir,
    ...context
  }: Pick<SandboxContext, 'cwd' | 'environment' | 'suites'> & {
    servers: readonly PlannedServer[];
    base: Pick<PlannedBase, 'servers' | 'cachePath' | 'checkout' | 'package'> | null;
    reportDir: { path: string };
  },
  findings: Findings,
): Promise<void> {
  const ofBase = base?.servers ?? [];
  for (const server of [...servers, ...ofBase]) {
    const checkout = ofBase.includes(server) ? null : (base?.checkout?.directory ?? base?.package?.directory ?? null);
    const directories = { serverCwd: server.cwd, reportDir: reportDir.path, cache: base?.cachePath ?? null, checkout };
    server.sandbox = await planSandbox(options, { ...context, ...directories });
  }
  if (servers.length > 0) findings.addAll(await findMissingPaths(options, context.cwd));
}

async function findMissingPaths(
  { sandboxWrite }: Pick<GateOptions, 'sandboxWrite'>,
  cwd: string,
): Promise<ConfigurationIssue[]> {
  const issues: ConfigurationIssue[] = [];
  for (const path of sandboxWrite) {
    if ((await stat(resolve(cwd, path)).catch(() => null)) !== null) continue;
    const message = `${JSON.stringify(path)} does not exist; it is taken relative to the working directory, so check the path and that an earlier step makes it`;
    issues.push({ input: 'sandbox-write', code: 'no-path', message });
  }
  return issues;
}

interface SandboxContext {
  cwd: string;
  serverCwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  suites: readonly PlannedSuite[];
  reportDir: string;
  /** The path at which results of the base are kept; null for none. */
  cache: string | null;
  /** The directory of the base's checkout when the server starts; null without one, and for the base's own server. */
  checkout: string | null;
}

/**
 * Plans the sandbox: protects the files that the verdict, the next gates and the next steps depend on, among all that the server could write
 * to.
 */
async function planSandbox(
  options: Pick<
    GateOptions,
    | 'sandbox'
    | 'enableSandbox'
    | 'sandboxNetwork'
    | 'sandboxWrite'
    | 'mcpConfig'
    | 'policy'
    | 'baseline'
    | 'historyPath'
    | 'shard'
  >,
  { cwd, serverCwd, environment, suites, reportDir, cache, checkout }: SandboxContext,
): Promise<SandboxOptions> {
  const { baseline, historyPath, mcpConfig, policy } = options;
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite.location.file] : []));
  // A policy that a program passes is in no file.
  const policyPath = typeof policy === 'string' ? policy : null;
  const past = [
    mcpConfig?.path ?? null,
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
    // A process that can write to the directory can replace the file.
    const directory = dirname(path);
    return work.some((other) => `${other}${sep}`.startsWith(`${directory}${sep}`)) ? [path] : [directory];
  });
  const repository = await findRepository(cwd);
  const git =
    repository === null ? [] : [join(repository.top, '.git'), repository.directory, repository.commonDirectory];
  const browser = (await listBrowserFiles(environment)).map((file) =>
    work.some((path) => `${path}${sep}`.startsWith(`${dirname(file)}${sep}`)) ? file : dirname(file),
  );
  // A shard adds nothing to the history.
  const history = historyPath === null || options.shard !== null ? [] : [resolve(cwd, historyPath)];
  // A directory in which the server works stays writable.
  const own = [reportDir, ...(cache === null ? [] : [cache])].filter((path) => path !== cwd && path !== serverCwd);
  return {
    mode: options.sandbox,
    network: options.sandboxNetwork,
    isEnabled: options.enableSandbox,
    writable: options.sandboxWrite.map((path) => resolve(cwd, path)),
    protect: [...inputs, ...own, ...(checkout === null ? [] : [checkout]), ...runner, ...git, ...browser],
    make: { directories: own, files: history },
  };
}

/** Lists the browser's program and the file that it links to: the browser runs outside of the sandbox. */
async function listBrowserFiles(environment: Readonly<Record<string, string | undefined>>): Promise<string[]> {
  const found = findChromium(environment);
  return 'reason' in found ? [] : [found.executable, await realpath(found.executable)];
}
