import { createInterface } from 'node:readline/promises';
import { serverUnderTest } from '../cases/step-server.ts';
import { createFindings } from '../base/findings.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { parseDuration, systemClock } from '../base/time.ts';
import { findCallRisk } from '../explore/choose-calls.ts';
import type { Exploration } from '../explore/exploration.ts';
import { exploreAndCheck } from '../explore/check-exploration.ts';
import type { EarlierCorpus } from '../explore/read-corpus.ts';
import { openRemoteWorlds, type RemoteServer } from '../explore/world/open-remote.ts';
import { openWorlds } from '../explore/world/open-worlds.ts';
import { callLimits, planStart, type WorldSandbox } from '../explore/world/plan-start.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { WorldSource } from '../explore/world/world.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
import { openUpstreamRoute } from '../gate/run/upstream-route.ts';
import { listHiddenValues } from '../gate/run/job-upstream.ts';
import { openPlannedAccess, type ReachContext, startPlannedServer } from '../gate/reach-server.ts';
import { openSession } from '../mcp/session.ts';
import type { OpenProxy } from '../server/running-server.ts';
import { createHiding } from '../upstream/hidden-values.ts';
import { openSendingOnce } from '../upstream/send-once.ts';
import { createTerminalLogger } from './command-logger.ts';
import type { ExplorationFlags } from './exploration-flags.ts';
import { createExplorationDisplay } from './exploration-display.ts';

/** What the flags of an exploration say. */
export interface ExplorationNumbers {
  seed: number;
  budget: number | null;
  timeLimitMs: number;
}

/** @throws {ConfigurationError} if a flag has no valid number */
export function readExplorationFlags({ seed, budget, timeLimit }: ExplorationFlags): ExplorationNumbers {
  const findings = createFindings();
  const refuse = (input: string, message: string) => findings.add({ input, code: 'invalid-value', message });
  const readWhole = (input: string, text: string, least: number): number => {
    const number = Number(text);
    const isRead = /^\d+$/.test(text) && number >= least && number < 2 ** 32;
    if (!isRead)
      refuse(
        input,
        `${JSON.stringify(text)} is no whole number from ${least} on; write one such as ${least === 0 ? 1 : 400}`,
      );
    return number;
  };
  const numbers = {
    seed: readWhole('seed', seed, 0),
    budget: budget === undefined ? null : readWhole('budget', budget, 1),
    timeLimitMs: parseDuration(timeLimit) ?? 0,
  };
  if (numbers.timeLimitMs <= 0)
    refuse('time-limit', `${JSON.stringify(timeLimit)} is no duration; write one such as 2m or 90s`);
  findings.throwIfAny();
  return numbers;
}

/** How calls are contained, and which tools are called for that reason. */
interface Containment extends WorldSandbox {
  /** `by-sandbox` calls all tools in a strict sandbox, and else those that are declared read-only; `ask` asks a person on the terminal first. */
  call: 'read-only' | 'all' | 'by-sandbox' | 'ask';
}

interface PlannedExploration extends ExplorationNumbers {
  containment: Containment;
  /** The tools that are called in addition; none unless given. */
  safeTools?: readonly string[];
  /** An earlier exploration of the server, whose requests are sent first. */
  earlier?: EarlierCorpus | null;
  /** True to let the server reach its APIs, each request once. */
  reachesUpstream?: boolean;
  workspace: Workspace;
  redactor: Redactor;
  signal: AbortSignal;
}

/** Explores a planned server in worlds, or at its URL, and shows the progress on stderr. Secrets are redacted. */
export async function explorePlanned(
  server: PlannedServer,
  {
    containment,
    safeTools = [],
    earlier = null,
    reachesUpstream = false,
    workspace,
    redactor,
    signal,
    ...numbers
  }: PlannedExploration,
): Promise<Exploration> {
  for (const secret of server.secrets) redactor.add(secret);
  const { stderr } = process;
  const display = createExplorationDisplay({
    write: (text) => stderr.write(text),
    isTerminal: stderr.isTTY && process.env['CI'] === undefined,
    columns: stderr.columns,
    clock: systemClock,
    redactor,
  });
  const logger = createTerminalLogger({
    write: (text) => {
      display.clear();
      stderr.write(text);
    },
    redactor,
    color: stderr.hasColors?.() ?? false,
    isQuiet: false,
    isVerbose: false,
  });
  const context = { clock: systemClock, logger, signal, environment: process.env, redactor };
  await using upstream = reachesUpstream ? openExploredUpstream(server, context) : null;
  const start = server.url === null ? planStart(server, { ...containment, workspace }) : null;
  await using source =
    start !== null
      ? await openWorlds(upstream === null ? start : { ...start, openProxy: upstream.openProxy }, context)
      : openRemoteWorlds(await openRemoteServer(server, context), { ...context, callMs: callLimits.callMs });
  const policy = await chooseCalls(source, containment, { ...server, reachesUpstream });
  try {
    const options = {
      ...numbers,
      ...policy,
      safeTools,
      earlier,
      workspace,
      clock: systemClock,
      onProgress: display.show,
    };
    return redactDeep(await exploreAndCheck(source, options), redactor);
  } finally {
    display.clear();
  }
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
  { call }: Containment,
  server: PlannedServer & { reachesUpstream: boolean },
): Promise<{ call: 'read-only' | 'all'; whyReadOnly: string }> {
  if (call === 'all') return { call: 'all', whyReadOnly: '' };
  if (call === 'read-only') return { call: 'read-only', whyReadOnly: '`--call` is read-only' };
  if (server.url !== null)
    return { call: 'read-only', whyReadOnly: 'the server is at a URL; `--safe-tool` names a tool to call anyway' };
  const risk = server.reachesUpstream ? 'its calls reach an API' : findCallRisk({ sandbox }, server);
  if (risk === null) return { call: 'all', whyReadOnly: '' };
  const isAllowed =
    call === 'ask' &&
    (await confirm(`Call tools that are not declared read-only? ${risk[0]?.toUpperCase()}${risk.slice(1)}. [y/N] `));
  return isAllowed
    ? { call: 'all', whyReadOnly: '' }
    : { call: 'read-only', whyReadOnly: `${risk}; \`--call all\` calls it` };
}

async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
