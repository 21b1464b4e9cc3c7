import { createInterface } from 'node:readline/promises';
import { serverUnderTest } from '../cases/step-server.ts';
import { createFindings } from '../base/findings.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { parseDuration, systemClock } from '../base/time.ts';
import { findCallRisk } from '../explore/choose-calls.ts';
import type { Exploration } from '../explore/exploration.ts';
import { exploreServer } from '../explore/explore.ts';
import type { EarlierCorpus } from '../explore/read-corpus.ts';
import { openRemoteWorlds, type RemoteServer } from '../explore/world/open-remote.ts';
import { openWorlds, type ServerStart } from '../explore/world/open-worlds.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { WorldSource } from '../explore/world/world.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
import { openPlannedAccess, type ReachContext, startPlannedServer } from '../gate/reach-server.ts';
import { openSession } from '../mcp/session.ts';
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

interface PlannedExploration extends ExplorationNumbers {
  /** The tools to call; null lets the sandbox, or a person on the terminal, decide. */
  call: 'read-only' | 'all' | null;
  /** False if a person is not asked. */
  asks: boolean;
  sandbox: string;
  /** True if the sandbox is enabled on a hosted runner first. */
  isSandboxEnabled?: boolean;
  /** The tools that are called in addition; none unless given. */
  safeTools?: readonly string[];
  /** An earlier exploration of the server, whose requests are sent first. */
  earlier?: EarlierCorpus | null;
  workspace: Workspace;
  redactor: Redactor;
  signal: AbortSignal;
}

/** Longer than answers take, and shorter than the ten seconds that demonstrations of slow tools wait. */
const callLimits = { callMs: 8000, pingMs: 5000 };

/** Explores a planned server in worlds, or at its URL, and shows the progress on stderr. Secrets are redacted. */
export async function explorePlanned(
  server: PlannedServer,
  {
    call,
    asks,
    sandbox,
    isSandboxEnabled = false,
    safeTools = [],
    earlier = null,
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
  await using source =
    server.url === null
      ? await openWorlds(planStart(server, { workspace, sandbox, isSandboxEnabled }), context)
      : openRemoteWorlds(await openRemoteServer(server, context), { ...context, callMs: callLimits.callMs });
  const policy = await chooseCalls(source, { call, asks, server });
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
    return redactDeep(await exploreServer(source, options), redactor);
  } finally {
    display.clear();
  }
}

/** Plans how each world starts the server. */
function planStart(
  { command, environment, cwd, readyTimeoutMs }: PlannedServer,
  {
    workspace,
    sandbox,
    isSandboxEnabled,
  }: Required<Pick<PlannedExploration, 'workspace' | 'sandbox' | 'isSandboxEnabled'>>,
): ServerStart {
  if (command === null) throw new Error('A planned server has a command or a URL.');
  return {
    command,
    env: Object.fromEntries([...environment].map(([name, value]) => [name, value.reveal()])),
    cwd,
    readyTimeoutMs,
    workspace,
    sandbox: sandbox === 'off' ? 'off' : 'auto',
    isSandboxEnabled,
    limits: callLimits,
  };
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
  { call, asks, server }: Pick<PlannedExploration, 'call' | 'asks'> & { server: PlannedServer },
): Promise<{ call: 'read-only' | 'all'; whyReadOnly: string }> {
  if (call === 'all') return { call: 'all', whyReadOnly: '' };
  if (call === 'read-only') return { call: 'read-only', whyReadOnly: '`--call` is read-only' };
  if (server.url !== null)
    return { call: 'read-only', whyReadOnly: 'the server is at a URL; `--safe-tool` names a tool to call anyway' };
  const risk = findCallRisk({ sandbox }, server);
  if (risk === null) return { call: 'all', whyReadOnly: '' };
  const isAllowed =
    asks &&
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
