import { parseDuration } from '../base/time.ts';
import { ConfigurationError } from '../base/errors.ts';
import type { CapturedStep } from './session.ts';

/** What ends a case: a pause in milliseconds, each call, or only a prompt. */
export type SplitRule = { kind: 'pause'; pauseMs: number } | { kind: 'each' } | { kind: 'never' };

/** @throws {ConfigurationError} if it is no rule */
export function parseSplit(written: string): SplitRule {
  if (written === 'each' || written === 'never') return { kind: written };
  const pauseMs = parseDuration(written) ?? 0;
  if (pauseMs > 0) return { kind: 'pause', pauseMs };
  const message = `${JSON.stringify(written)} is no rule; write a pause such as 60s, \`each\` or \`never\``;
  throw new ConfigurationError([{ input: 'split', code: 'invalid-value', message }]);
}

/** Splits the steps of a session into tasks. A prompt begins one, because a person chose it. */
export function splitTasks<Step extends Pick<CapturedStep, 'timeMs' | 'session' | 'request'>>(
  steps: readonly Step[],
  rule: SplitRule,
): Step[][] {
  const tasks: Step[][] = [];
  let lastMs = 0;
  let session = -1;
  for (const step of steps) {
    const isPaused = rule.kind === 'pause' && step.timeMs - lastMs >= rule.pauseMs;
    const isOther = step.session !== session;
    lastMs = step.timeMs;
    session = step.session;
    const task = tasks.at(-1);
    const isPrompt = step.request.kind === 'prompt';
    if (task === undefined || rule.kind === 'each' || isPaused || isOther || isPrompt) tasks.push([step]);
    else task.push(step);
  }
  return tasks;
}
