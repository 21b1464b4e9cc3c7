import { createInterface } from 'node:readline/promises';
import { createFindings } from '../base/findings.ts';
import type { Redactor } from '../base/redaction.ts';
import { parseDuration, systemClock } from '../base/time.ts';
import type { Exploration } from '../explore/exploration.ts';
import { type ExplorationPlan, explorePlanned } from '../gate/explore-planned.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
import { createTerminalLogger } from './command-logger.ts';
import type { ExplorationFlags } from './exploration-flags.ts';
import { createExplorationDisplay } from './exploration-display.ts';

/** What the flags of an exploration say. */
export type ExplorationNumbers = Pick<ExplorationPlan, 'seed' | 'budget' | 'timeLimitMs'>;

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

/** Explores a planned server, and shows the progress on stderr. */
export async function exploreOnTerminal(
  server: PlannedServer,
  { redactor, signal, ...plan }: ExplorationPlan & { redactor: Redactor; signal: AbortSignal },
): Promise<Exploration> {
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
  try {
    return await explorePlanned(server, plan, { ...context, onProgress: display.show, confirm });
  } finally {
    display.clear();
  }
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
