import type { GateContext, GateResult } from '../gate.ts';
import type { GatePlan } from '../plan/plan.ts';
import { publishToGitHub } from './publish-github.ts';
import { publishTraces } from './publish-traces.ts';
import { uploadResults } from './upload-results.ts';

/**
 * Reports the verdict to GitHub, to a trace collector and to a hosted project, as far as the plan asks for it. Runs after the files
 * are written. A failure is a warning and leaves the verdict unchanged.
 */
export async function publishOnline(
  { report, tracePath, kept }: Pick<GateResult, 'report' | 'tracePath' | 'kept'>,
  { github, collector, upload, suites }: Pick<GatePlan, 'github' | 'collector' | 'upload' | 'suites'>,
  sending: Pick<GateContext, 'clock' | 'logger' | 'redactor' | 'signal'>,
): Promise<void> {
  if (github !== null) {
    await publishToGitHub(report, github, sending);
  }
  if (collector !== null && tracePath !== null) {
    await publishTraces(tracePath, collector, sending);
  }
  if (upload !== null && kept !== null) {
    await uploadResults({ report, kept, upload, suites }, sending);
  }
}
