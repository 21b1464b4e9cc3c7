import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import type { GateResult } from './gate.ts';
import type { GatePlan } from './plan.ts';

export interface OnlineContext {
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  signal: AbortSignal;
}

/**
 * Tells what came of a gate wherever else the plan wants it told, after the files. Each place is a chunk of its own; what
 * fails there is warned about, and the verdict stands.
 */
export async function publishOnline(
  { report, tracePath }: Pick<GateResult, 'report' | 'tracePath'>,
  { github, collector }: Pick<GatePlan, 'github' | 'collector'>,
  context: OnlineContext,
): Promise<void> {
  if (github !== null) {
    const { publishToGitHub } = await import('./publish-github.ts');
    await publishToGitHub(report, github, context);
  }
  if (collector !== null && tracePath !== null) {
    const { publishTraces } = await import('./publish-traces.ts');
    await publishTraces(tracePath, collector, context);
  }
}
