import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import { redactDeep } from '../base/redaction.ts';
import { serverUnderTest } from '../cases/step-server.ts';
import { exploreAndCheck } from '../explore/check-exploration.ts';
import { findCallRisk } from '../explore/choose-calls.ts';
import type { Exploration } from '../explore/exploration.ts';
import type { ExploreProgress } from '../explore/explore.ts';
import { waiveFindings } from '../explore/findings/waive-findings.ts';
import type { EarlierCorpus } from '../explore/read-corpus.ts';
import { generatedWorkspace } from '../explore/world/generated-files.ts';
import { openRemoteWorlds, type RemoteServer } from '../explore/world/open-remote.ts';
import { openWorlds } from '../explore/world/open-worlds.ts';
import { callLimits, planStart, type WorldSandbox } from '../explore/world/plan-start.ts';
import type { WorldSource } from '../explore/world/world.ts';
import { openSession } from '../mcp/session.ts';
import { applyExploreDefaults, type ExplorePolicy } from '../model/explore-policy.ts';
import { emptyWorkspace, readWorkspace, type Workspace } from '../workspace/workspace.ts';
import type { OpenProxy } from '../server/running-server.ts';
import { createHiding } from '../upstream/hidden-values.ts';
import { openSendingOnce } from '../upstream/send-once.ts';
import type { GateOptions } from './options/schema.ts';
import { readPolicyOption } from './plan/plan-policy.ts';
import type { PlannedServer } from './plan/plan-server.ts';
import { listHiddenValues } from './run/job-upstream.ts';
import { openUpstreamRoute } from './run/upstream-route.ts';
import { openPlannedAccess, planOneServer, type ReachContext, startPlannedServer } from './reach-server.ts';

/** How calls are contained, and which tools are called for that reason. */
export interface Containment extends WorldSandbox {
  /** `by-sandbox` calls all tools in a strict sandbox, and else those that are declared read-only; `ask` asks a person first. */
  call: 'read-only' | 'all' | 'by-sandbox' | 'ask';
}

/** How a server is explored. */
export interface ExplorationPlan {
  seed: number;
  /** The most requests; null for 500, or 25 for each tool if that is more. */
  budget: number | null;
  timeLimitMs: number;
  containment: Containment;
  /** The tools that are called in addition; none unless given. */
  safeTools?: readonly string[];
  /** An earlier exploration of the server, whose requests are sent first. */
  earlier?: EarlierCorpus | null;
  /** True to let the server reach its APIs, each request once. */
  reachesUpstream?: boolean;
  workspace: Workspace;
}

interface ExplorationContext extends ReachContext {
  onProgress: (progress: ExploreProgress) => void;
  /** Asks a person. Absent where there is none. */
  confirm?: (question: string) => Promise<boolean>;
}

/** Explores a planned server in worlds, or at its URL. Secrets are redacted. */
export async function explorePlanned(
  server: PlannedServer,
  { containment, safeTools = [], earlier = null, reachesUpstream = false, workspace, ...numbers }: ExplorationPlan,
  { onProgress, confirm, ...context }: ExplorationContext,
): Promise<Exploration> {
  const { clock, redactor } = context;
  for (const secret of server.secrets) redactor.add(secret);
  await using upstream = reachesUpstream ? openExploredUpstream(server, context) : null;
  const start = server.url === null ? planStart(server, { ...containment, workspace }) : null;
  await using source =
    start !== null
      ? await openWorlds(upstream === null ? start : { ...start, openProxy: upstream.openProxy }, context)
      : openRemoteWorlds(await openRemoteServer(server, context), { ...context, callMs: callLimits.callMs });
  const policy = await chooseCalls(source, { ...containment, confirm }, { ...server, reachesUpstream });
  const options = { ...numbers, ...policy, safeTools, earlier, workspace, clock, onProgress };
  return redactDeep(await exploreAndCheck(source, options), redactor);
}

/** Opens the way to the APIs of the server. All worlds see one answer to the same request, so that replays differ in nothing else. */
function openExploredUpstream(
  server: PlannedServer,
  { clock, environment, redactor }: Pick<ReachContext, 'clock' | 'environment' | 'redactor'>,
): AsyncDisposable & { openProxy: OpenProxy } {
  const route = openUpstreamRoute({ environment, clock, isSending: true });
  const session = openSendingOnce({
    settings: { headers: [], ignore: { query: [], body: [] } },
    hiding: createHiding(listHiddenValues([server]), { redactor }),
    forward: route.send,
  });
  return { openProxy: route.serve(session), [Symbol.asyncDispose]: async () => await route[Symbol.asyncDispose]() };
}

/** Starts the server of a URL if it has a command, for any number of sessions. */
async function openRemoteServer(server: PlannedServer, context: ReachContext): Promise<RemoteServer> {
  const access = await openPlannedAccess(server, context);
  const running = await startPlannedServer(server, access, context);
  const target = { ...running.endpoint, serverName: serverUnderTest, protocol: running.protocol, access };
  return {
    openSession: async () => await openSession(target, context),
    [Symbol.asyncDispose]: async () => await running[Symbol.asyncDispose](),
  };
}

/** Decides which tools may be called. Without a strict sandbox, calls can have effects outside of the copies. */
async function chooseCalls(
  { sandbox }: WorldSource,
  { call, confirm }: Pick<Containment, 'call'> & { confirm: ExplorationContext['confirm'] | undefined },
  server: PlannedServer & { reachesUpstream: boolean },
): Promise<{ call: 'read-only' | 'all'; whyReadOnly: string }> {
  if (call === 'all') return { call: 'all', whyReadOnly: '' };
  if (call === 'read-only') return { call: 'read-only', whyReadOnly: '`--call` is read-only' };
  if (server.url !== null)
    return { call: 'read-only', whyReadOnly: 'the server is at a URL; `--safe-tool` names a tool to call anyway' };
  const risk = server.reachesUpstream ? 'its calls reach an API' : findCallRisk({ sandbox }, server);
  if (risk === null) return { call: 'all', whyReadOnly: '' };
  const question = `Call tools that are not declared read-only? ${risk[0]?.toUpperCase()}${risk.slice(1)}. [y/N] `;
  const isAllowed = call === 'ask' && (await confirm?.(question)) === true;
  return isAllowed
    ? { call: 'all', whyReadOnly: '' }
    : { call: 'read-only', whyReadOnly: `${risk}; \`--call all\` calls it` };
}

/** The server of an exploration, its files, and the policy for its findings. */
interface OpenedExploration {
  server: PlannedServer;
  workspace: Workspace;
  containment: Containment;
  policy: ExplorePolicy;
  /** Marks the findings that the policy waives. `unused` are waivers that no finding needs. */
  waive: (explored: Exploration) => { exploration: Exploration; unused: ReturnType<typeof waiveFindings>['unused'] };
}

/**
 * Plans the server that the options describe, reads the policy and the workspace, which is null for generated files.
 *
 * @throws {ConfigurationError} with everything that is wrong
 */
export async function openExploration(
  options: GateOptions,
  {
    cwd,
    environment,
    workspace,
    kept = null,
    call,
  }: Pick<Containment, 'call'> & {
    cwd: string;
    environment: ReachContext['environment'];
    workspace: string | null;
    /** The files of an earlier exploration, for a server in worlds if no workspace is named. */
    kept?: string | null;
  },
): Promise<OpenedExploration> {
  const policy = await readExplorePolicy(options, cwd);
  const server = await planOneServer(options, { cwd, environment });
  if (server.url !== null) checkOptionsOfUrl({ call, workspace });
  const { sandbox, enableSandbox: isSandboxEnabled } = options;
  const named = workspace ?? kept;
  const files = named === null ? generatedWorkspace : await readWorkspace(named, cwd);
  return {
    server,
    policy,
    workspace: server.url === null ? files : emptyWorkspace,
    containment: { call, sandbox, isSandboxEnabled },
    waive: (explored) => {
      const { findings, unused } = waiveFindings(explored.findings, policy);
      return { exploration: { ...explored, findings }, unused };
    },
  };
}

/** @throws {ConfigurationError} with every problem of the policy file */
async function readExplorePolicy({ policy: written }: GateOptions, cwd: string): Promise<ExplorePolicy> {
  const findings = createFindings();
  const policy = await readPolicyOption(written, cwd, findings);
  findings.throwIfAny();
  return applyExploreDefaults(policy?.gate.explore ?? null);
}

/** @throws {ConfigurationError} for options that need a process in each world */
function checkOptionsOfUrl({ call, workspace }: Pick<Containment, 'call'> & { workspace: string | null }): void {
  const issues: ConfigurationIssue[] = [];
  if (call === 'all') {
    const message =
      'is `all`, and calls of a server at a URL have effects there; name harmless tools with `--safe-tool`';
    issues.push({ input: 'call', code: 'call-and-url', message });
  }
  if (workspace !== null) {
    const message = 'has no effect on a server at a URL, which works with its own files; remove it';
    issues.push({ input: 'workspace', code: 'workspace-and-url', message });
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
}
