import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { findOutputRoot, writeOutput } from '../base/output-files.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { createFindings } from '../base/findings.ts';
import { formatCount } from '../base/text.ts';
import { formatDuration, parseDuration, systemClock } from '../base/time.ts';
import { draftEvals } from '../explore/draft/draft-evals.ts';
import type { Exploration, FindingSeverity } from '../explore/exploration.ts';
import { exploreServer } from '../explore/explore.ts';
import { renderExplorationMarkdown } from '../explore/render/markdown.ts';
import { renderExplorationText } from '../explore/render/text.ts';
import { openWorlds } from '../explore/world/open-worlds.ts';
import { readWorkspace } from '../explore/world/workspace.ts';
import type { WorldSource } from '../explore/world/world.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
import { planOneServer } from '../gate/reach-server.ts';
import { joinCommand } from '../server/split-command.ts';
import { createStderrLogger, redactText } from './command-logger.ts';

export interface ExploreFlags {
  workspace?: string;
  seed: string;
  budget?: string;
  timeLimit: string;
  call?: 'read-only' | 'all';
  format: 'text' | 'json' | 'markdown';
  write?: string;
  corpus?: string;
  findingsOnly?: true;
  severity: FindingSeverity;
}

/** Explores the server that the flags describe, writes files and prints the result; returns the exit code. */
export async function runExplore(
  flags: ExploreFlags,
  texts: Record<string, string>,
  redactor: Redactor,
): Promise<number> {
  const cwd = process.cwd();
  const numbers = readNumbers(flags);
  checkTargets(flags);
  const gateOptions = parseDoctorOptions(texts);
  const server = await planOneServer(gateOptions, { cwd, environment: process.env });
  const { command } = server;
  if (command === null || server.url !== null) throw refuseUrl();
  const workspace = await readWorkspace(flags.workspace ?? null, cwd);
  for (const secret of server.secrets) redactor.add(secret);
  const logger = createStderrLogger(redactor);
  const signal = listenForInterrupts(process, (code) => process.exit(code));
  const startedMs = systemClock.monotonicMs();
  const start = {
    command,
    env: Object.fromEntries([...server.environment].map(([name, value]) => [name, value.reveal()])),
    cwd: server.cwd,
    readyTimeoutMs: server.readyTimeoutMs,
    workspace,
    sandbox: gateOptions.sandbox === 'off' ? ('off' as const) : ('auto' as const),
    limits: callLimits,
  };
  const context = { clock: systemClock, logger, signal, environment: process.env };
  await using source = await openWorlds(start, context);
  const policy = await chooseCalls(source, { flags, server });
  const explored = await exploreServer(source, {
    ...numbers,
    ...policy,
    workspace,
    clock: systemClock,
    onProgress: (what) => logger.info(`${what} (${formatDuration(systemClock.monotonicMs() - startedMs)}) …`),
  });
  const exploration = redactDeep(explored, redactor);
  const files = writeFiles(exploration, flags, cwd);
  const next =
    flags.write === undefined
      ? '`--write evals/explored.evals.yaml` writes evals from this'
      : `mcp-eval-ci run --evals ${joinCommand([flags.write])} --server-command ${joinCommand([command])}${nameOwnParts(texts)}`;
  process.stdout.write(redactText(render(exploration, flags, { files, next }), redactor));
  return judge(exploration, flags);
}

/** Names what a run of the written file needs in addition: it starts the server outside of a world. */
function nameOwnParts({ 'server-env': variables, ...texts }: Record<string, string>): string {
  const parts = [
    ...(variables === undefined ? [] : ['your `--server-env`']),
    ...([variables, ...Object.values(texts)].some((text) => text?.includes('{{workspace}}') === true)
      ? ['your directory instead of `{{workspace}}`']
      : []),
  ];
  return parts.length === 0 ? '' : `, with ${parts.join(' and ')}`;
}

/** Longer than answers take, and shorter than the ten seconds that demonstrations of slow tools wait. */
const callLimits = { callMs: 8000, pingMs: 5000 };

/** From the least to the worst. */
const severities: readonly FindingSeverity[] = ['note', 'warning', 'error'];

function readNumbers({ seed, budget, timeLimit }: ExploreFlags): {
  seed: number;
  budget: number | null;
  timeLimitMs: number;
} {
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

/** Refuses existing files before anything starts. */
function checkTargets({ write, corpus }: ExploreFlags): void {
  const issues = Object.entries({ write, corpus }).flatMap(([input, path]): ConfigurationIssue[] =>
    path !== undefined && existsSync(path)
      ? [
          {
            input,
            code: 'file-exists',
            message: `${path} exists, and stays as it is; choose another path or remove it`,
          },
        ]
      : [],
  );
  if (issues.length > 0) throw new ConfigurationError(issues);
}

function refuseUrl(): ConfigurationError {
  const message =
    'explore starts the server itself, over stdio, in copies of a workspace; give `--server-command` without `--server-url`';
  return new ConfigurationError([{ input: 'server-url', code: 'needs-command', message }]);
}

/** Decides which tools may be called. Without a strict sandbox, calls can have effects outside of the copies. */
async function chooseCalls(
  { sandbox }: WorldSource,
  { flags, server }: { flags: ExploreFlags; server: PlannedServer },
): Promise<{ call: 'read-only' | 'all'; whyReadOnly: string }> {
  if (flags.call === 'all') return { call: 'all', whyReadOnly: '' };
  if (flags.call === 'read-only') return { call: 'read-only', whyReadOnly: '`--call` is read-only' };
  const risk =
    sandbox !== 'confined'
      ? `the sandbox is at level ${sandbox}, where calls reach the network and other files`
      : server.secrets.length > 0
        ? '`--server-env` has a value that may be a secret'
        : null;
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

function writeFiles(exploration: Exploration, { write, corpus }: ExploreFlags, cwd: string): string[] {
  const files: string[] = [];
  if (write !== undefined) {
    const { text, cases, left } = draftEvals(exploration);
    writeOutput(write, text, { root: findOutputRoot(write, cwd) });
    const reasons = Map.groupBy(left, ({ reason }) => reason);
    const without = [...reasons].map(
      ([reason, each]) =>
        `left out: ${formatCount(each.length, 'session')} that ${each.length === 1 ? reason.replace(/^need/, 'needs').replace(/^are/, 'is') : reason}`,
    );
    files.push([`${write} with ${formatCount(cases, 'case')}`, ...without].join('; '));
  }
  if (corpus !== undefined) {
    writeOutput(corpus, `${JSON.stringify(exploration, null, 2)}\n`, { root: findOutputRoot(corpus, cwd) });
    files.push(corpus);
  }
  return files;
}

function render(
  exploration: Exploration,
  { format }: ExploreFlags,
  outcome: { files: string[]; next: string },
): string {
  if (format === 'json') return `${JSON.stringify(exploration, null, 2)}\n`;
  return format === 'markdown' ? renderExplorationMarkdown(exploration) : renderExplorationText(exploration, outcome);
}

function judge({ findings }: Exploration, { findingsOnly, severity: least }: ExploreFlags): number {
  const isMet = findings.some(({ severity }) => severities.indexOf(severity) >= severities.indexOf(least));
  return findingsOnly === true && isMet ? 1 : 0;
}
