import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { GateResult } from '../gate.ts';
import type { GatePlan } from '../plan/plan.ts';

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
  { report, tracePath, kept }: Pick<GateResult, 'report' | 'tracePath' | 'kept'>,
  { github, collector, upload, suites }: Pick<GatePlan, 'github' | 'collector' | 'upload' | 'suites'>,
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
  if (upload !== null && kept !== null) {
    const { uploadResults } = await import('./upload-results.ts');
    await uploadResults({ report, kept, upload, suites }, context);
  }
}
