import { join } from 'node:path';
import type { Redactor } from '../../base/redaction.ts';
import type { Report } from '../../model/report.ts';
import { causePlaceholder, type FallbackReport } from '../../supervisor/messages.ts';
import type { Supervision } from '../../supervisor/supervised.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { WrittenFiles } from './publish-files.ts';
import { renderFallback } from './render-fallback.ts';

/** What collecting and clearing up may take after the `timeout`. */
const overrunMs = 15_000;

/** Sends the supervisor, if there is one, the deadline of the verdict and what to write if there is none by then. */
export async function announceGate(
  plan: GatePlan,
  supervision: Supervision,
  context: {
    startedAt: Date;
    redactor: Redactor;
    summaryPath: string | null;
    /** Renders what else is written. */
    renderMore?: (report: Report, written: WrittenFiles) => FallbackReport;
  },
): Promise<void> {
  if (supervision.marker === null || plan.merge !== null) return;
  const { report, files } = await renderFallback(plan, { ...context, cause: causePlaceholder });
  const { label } = plan.reportDir;
  const reportPath = join(label, 'report.json');
  const junitPath = join(label, 'junit.xml');
  const written = { reportPath, junitPath, htmlPath: null, ctrfPath: null, badgePath: null };
  const more = context.renderMore?.(report, written) ?? { files: [], stdout: '' };
  supervision.planned(plan.timeoutMs + overrunMs, { files: [...files, ...more.files], stdout: more.stdout });
}
