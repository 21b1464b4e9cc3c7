import { createInterface } from 'node:readline/promises';
import { createFindings } from '../base/findings.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { parseDuration, systemClock } from '../base/time.ts';
import { findCallRisk } from '../explore/choose-calls.ts';
import type { Exploration } from '../explore/exploration.ts';
import { exploreServer } from '../explore/explore.ts';
import { openWorlds } from '../explore/world/open-worlds.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { WorldSource } from '../explore/world/world.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
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
  sandbox: string;
  /** True if the sandbox is enabled on a hosted runner first. */
  isSandboxEnabled?: boolean;
  workspace: Workspace;
  redactor: Redactor;
  signal: AbortSignal;
}

/** Longer than answers take, and shorter than the ten seconds that demonstrations of slow tools wait. */
const callLimits = { callMs: 8000, pingMs: 5000 };

/** Explores a planned server in worlds, and shows the progress on stderr. Secrets are redacted. */
export async function explorePlanned(
  server: PlannedServer & { command: string },
  { call, sandbox, isSandboxEnabled = false, workspace, redactor, signal, ...numbers }: PlannedExploration,
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
  const start = {
    command: server.command,
    env: Object.fromEntries([...server.environment].map(([name, value]) => [name, value.reveal()])),
    cwd: server.cwd,
    readyTimeoutMs: server.readyTimeoutMs,
    workspace,
    sandbox: sandbox === 'off' ? ('off' as const) : ('auto' as const),
    isSandboxEnabled,
    limits: callLimits,
  };
  const context = { clock: systemClock, logger, signal, environment: process.env };
  await using source = await openWorlds(start, context);
  const policy = await chooseCalls(source, { call, server });
  try {
    const options = { ...numbers, ...policy, workspace, clock: systemClock, onProgress: display.show };
    return redactDeep(await exploreServer(source, options), redactor);
  } finally {
    display.clear();
  }
}

/** Decides which tools may be called. Without a strict sandbox, calls can have effects outside of the copies. */
async function chooseCalls(
  { sandbox }: WorldSource,
  { call, server }: { call: PlannedExploration['call']; server: PlannedServer },
): Promise<{ call: 'read-only' | 'all'; whyReadOnly: string }> {
  if (call === 'all') return { call: 'all', whyReadOnly: '' };
  if (call === 'read-only') return { call: 'read-only', whyReadOnly: '`--call` is read-only' };
  const risk = findCallRisk({ sandbox }, server);
  if (risk === null) return { call: 'all', whyReadOnly: '' };
  const isAllowed = await confirm(
    `Call tools that are not declared read-only? ${risk[0]?.toUpperCase()}${risk.slice(1)}. [y/N] `,
  );
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
