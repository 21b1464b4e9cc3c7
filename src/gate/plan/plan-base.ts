import { createHash, randomBytes, randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import type { ConfigurationIssue } from '../../base/errors.ts';
import { createFindings, type Findings } from '../../base/findings.ts';
import { getOwnPid } from '../../server/process-tree.ts';
import type { ShardReport } from '../../model/report.ts';
import type { Secret } from '../../base/redaction.ts';
import type { GateOptions } from '../options/schema.ts';
import { findForkPoint, findLocalCommit } from './base-tree.ts';
import type { CiJob } from './ci-job.ts';
import { describeGitError, findRepository } from './git-checkout.ts';
import { hashWorkspace } from '../../workspace/workspace.ts';
import { planPackage, type PlannedPackage } from './plan-package.ts';
import { planServer, type PlannedServer } from './plan-server.ts';
import { printUpstream } from './plan-upstream.ts';
import { listWorkspaces } from './suite-workspaces.ts';
import type { PlannedSuite } from './plan-suites.ts';

/** The commit of the base, and the directory that its files are written to. */
export interface PlannedCheckout {
  commit: string;
  /** The directory at the top of the checkout of the change. */
  repository: string;
  /** The directory for the files of the base; it does not exist yet. */
  directory: string;
  /** The gate's working directory within `directory`. */
  cwd: string;
}

/** The base that the gate runs in the same job to compare the change with it. */
export interface PlannedBase {
  /** Its servers, in the order of those of the change. `checkout` and `setup` hold what must be done before they can start. */
  servers: PlannedServer[];
  /** The name of the base in messages and reports. */
  label: string;
  /** Null if only the command or URL of its server is known. */
  checkout: PlannedCheckout | null;
  /** The name and version of the release that is installed; null until then, and if it is no package. */
  release: string | null;
  /** The release to install, and the directory for it, which does not exist yet; null if the base is no package. */
  package: (PlannedPackage & { directory: string }) | null;
  /** Commands to run in the checkout, each without a shell. */
  setup: readonly string[];
  /** Absolute; null if no results are kept. */
  cachePath: string | null;
  /** Identifies everything that decides the base's results, in addition to its commit. */
  cacheKey: string;
  /** Signs the kept results; null if they are not signed. */
  cacheSecret: Secret | null;
  /** The values that no output may show. */
  secrets: readonly Secret[];
  /** The patterns of the evals files. */
  patterns: readonly string[];
  /** The number of cases that are compared, including those of other shards. */
  cases: number;
  /** Decides the order of the sides in each round. */
  seed: number;
  /** The reason why there is nothing to compare with; null if there is a base. */
  problem: string | null;
}

/**
 * The start of the name of the directory with the base's files. The id of the gate's process follows, so that a later gate can recognize a
 * directory that was left behind.
 */
export const baseTreePrefix = 'mcp-eval-ci-base-';

interface BaseContext {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  ci: CiJob;
  /** The servers of the change. */
  servers: readonly PlannedServer[];
  variables: ReadonlyMap<string, PlannedServer['secrets'][number]>;
  /** The suites of all shards. */
  suites: readonly PlannedSuite[];
  shard: ShardReport | null;
}

/**
 * Plans the base that runs in the same job; null if there is nothing to compare with. A base that git cannot find is no issue: the gate
 * skips the comparison.
 */
export async function planBase(
  options: GateOptions,
  context: BaseContext,
  findings: Findings,
): Promise<PlannedBase | null> {
  const { base, baseServerCommand, baseServerCwd, baseSetup, baseCacheKey: cacheSecret } = options;
  const own = {
    release: null,
    package: null,
    setup: baseSetup,
    patterns: options.evals,
    cachePath: context.suites.some(hasCheckModules) ? null : planCache(options, context, findings),
    cacheSecret,
    secrets: cacheSecret === null ? [] : [cacheSecret],
    cases: context.suites.reduce((total, suite) => total + (suite.kind === 'file' ? suite.suite.cases.length : 0), 0),
    seed: base?.seed ?? drawSeed(context),
  };
  // Both sides get the files of the change, so results of the base belong to these files.
  const copied = await Promise.all(listWorkspaces(context.suites).map((workspace) => hashWorkspace(workspace.files)));
  const replayed = context.suites.flatMap((planned) =>
    planned.kind === 'file' && planned.upstream !== null ? [printUpstream(planned.upstream)] : [],
  );
  const files = [...copied, ...replayed];
  const describe = (servers: readonly PlannedServer[]) => hashServers(servers, [...baseSetup, ...files]);
  if (base?.package != null && options.serverCommand !== null) {
    const cwd = resolve(context.cwd, options.serverCwd ?? '.');
    const place = { command: options.serverCommand, serverCwd: cwd, cwd: context.cwd };
    const found = await planPackage(base.package, place, findings);
    const { version } = base.package;
    const name = found?.name ?? 'the server';
    const label = version === null ? `the last release of ${name}` : `${name} ${version}`;
    // The command is known when the release is installed.
    const servers = context.servers.map((server) => ({ ...server }));
    const planned = found === null ? null : { ...found, directory: nameDirectory() };
    const cacheKey = hashServers(servers, [JSON.stringify(base.package), ...files]);
    return { ...own, package: planned, servers, label, checkout: null, cacheKey, problem: null };
  }
  if (base?.isGit !== true) {
    const servers = await planOwnServer(options, baseServerCwd ?? options.serverCwd, context, findings);
    const label = baseServerCommand === null ? 'a running server' : 'base-server-command';
    return { ...own, servers, label, checkout: null, cacheKey: describe(servers), problem: null };
  }
  const found = await findMergeBase(context);
  if (found === null) {
    findings.remark('`base: git`: this is no pull or merge request, so there is no base to compare with.');
    return null;
  }
  if ('problem' in found) {
    return { ...own, servers: [], label: 'the merge base', checkout: null, cacheKey: '', problem: found.problem };
  }
  const { commit, repository, name } = found;
  const directory = nameDirectory();
  const checkout = { commit, repository, directory, cwd: join(directory, relative(repository, context.cwd)) };
  const servers =
    baseServerCommand === null && base.url === null
      ? context.servers.map((server) => moveServer(server, checkout, options, findings))
      : await planOwnServer(options, null, context, findings);
  for (const server of servers) {
    if (baseServerCwd !== null || baseServerCommand !== null) {
      server.cwd = resolve(checkout.cwd, baseServerCwd ?? options.serverCwd ?? '.');
    }
  }
  const label = `${commit.slice(0, 7)}, the merge base with ${name}`;
  const moved = servers.map((server) => ({ ...server, cwd: relative(directory, server.cwd) }));
  return { ...own, servers, label, checkout, cacheKey: describe(moved), problem: null };
}

/** The base's results depend on code that no key of a cache can describe. */
function hasCheckModules(planned: PlannedSuite): boolean {
  return planned.kind === 'file' && planned.suite.checkModules !== undefined;
}

function nameDirectory(): string {
  return join(tmpdir(), `${baseTreePrefix}${getOwnPid()}-${randomBytes(6).toString('hex')}`);
}

/**
 * Plans the path of the kept results of the base; null if none are kept. A pull request could forge results of the base in any file that it
 * can write, unless they are signed.
 */
function planCache({ base, baseCacheKey }: GateOptions, { ci, cwd }: BaseContext, findings: Findings): string | null {
  if (base?.cachePath == null) return null;
  if (ci.system !== null && ci.base !== null && baseCacheKey === null) {
    findings.remark(
      'The `cache` of `base` is not used, because anyone can write the files of a pull request: set `base-cache-key` to a secret that signs them.',
    );
    return null;
  }
  return resolve(cwd, base.cachePath);
}

/** Draws the seed of the order. Shards of one commit have the same seed, as if one gate had run them. */
function drawSeed({ shard, ci }: Pick<BaseContext, 'shard' | 'ci'>): number {
  if (shard === null) return randomInt(2 ** 32);
  return createHash('sha256').update(`${shard.digest} ${ci.commit}`).digest().readUInt32BE();
}

/** Plans the base's server from its own options. Everything else is as for the server of the change. */
async function planOwnServer(
  options: GateOptions,
  cwd: string | null,
  context: BaseContext,
  findings: Findings,
): Promise<PlannedServer[]> {
  const url = options.base?.url ?? null;
  const command =
    options.baseServerCommand ?? (url !== null && options.base?.isGit === true ? options.serverCommand : null);
  const own = createFindings();
  const server = await planServer({ ...options, serverCommand: command, serverUrl: url, serverCwd: cwd }, context, own);
  findings.addAll(own.issues.map(renameIssue));
  return server === null ? [] : [server];
}

/** Renames the options of an issue: the base has its own names for options with the same meaning. */
function renameIssue(issue: ConfigurationIssue): ConfigurationIssue {
  const names: Readonly<Record<string, string>> = {
    'server-command': 'base-server-command',
    'server-cwd': 'base-server-cwd',
    'server-url': 'base',
  };
  const { input } = issue;
  return input === undefined ? issue : { ...issue, input: names[input] ?? input };
}

/** Moves a server into the checkout of the base. */
function moveServer(
  server: PlannedServer,
  { repository, directory }: PlannedCheckout,
  options: GateOptions,
  findings: Findings,
): PlannedServer {
  if (server.command?.includes(`${repository}${sep}`) === true) {
    const input = options.mcpConfig === null ? 'server-command' : 'mcp-config';
    const message = `names a file in the checkout of the change by an absolute path, so that the base would be the change itself; write the path relative to the working directory, or set \`base-server-command\``;
    findings.add({ input, code: 'absolute-command', message });
  }
  if (server.url !== null && server.command === null) {
    const message = `has the server ${server.name ?? ''} at a \`url\`, which nothing starts in the checkout of the base; name a server with a \`command\` in \`mcp-server\`, or remove \`base\``;
    findings.add({ input: 'mcp-config', code: 'base-needs-command', message });
  }
  const inside = relative(repository, server.cwd);
  return { ...server, cwd: inside.split(sep)[0] === '..' ? server.cwd : join(directory, inside) };
}

/** Finds the merge base; null without a pull or merge request. */
async function findMergeBase({
  ci,
  cwd,
}: Pick<BaseContext, 'ci' | 'cwd'>): Promise<
  { commit: string; repository: string; name: string } | { problem: string } | null
> {
  // On a developer's machine, unmerged work is compared with the default branch.
  const own = ci.system === null && ci.defaultBranch !== null ? ci.defaultBranch : null;
  const base = ci.base ?? (own === null ? null : { branch: own, revisions: [`refs/remotes/origin/${own}`] });
  if (base === null) return null;
  const name = base.branch ?? 'the base';
  const fetchIt =
    ci.system === 'github'
      ? 'Set `fetch-depth: 0` on actions/checkout.'
      : `Fetch the branch ${name} with its history before the gate starts.`;
  const tip = await findLocalCommit(base.revisions, cwd);
  if ('problem' in tip) return { problem: `The commit of ${name} is not here. ${fetchIt}` };
  try {
    const commit = await findForkPoint(tip.commit, ci, cwd);
    const repository = await findRepository(cwd);
    return { commit, repository: repository?.top ?? cwd, name };
  } catch (error) {
    const why = describeGitError(error);
    return { problem: `Git does not know where the change left ${name}${why === '' ? '' : ` (${why})`}. ${fetchIt}` };
  }
}

function hashServers(servers: readonly PlannedServer[], setup: readonly string[]): string {
  const described = servers.map(({ name, command, url, cwd, environment }) => ({
    name,
    command,
    url,
    cwd,
    variables: [...environment.keys()].toSorted(),
  }));
  return createHash('sha256')
    .update(JSON.stringify([described, setup]))
    .digest('hex')
    .slice(0, 16);
}
