import { resolve } from 'node:path';
import { generator } from '../../base/version.ts';
import { redactDeep, type Redactor } from '../../base/redaction.ts';
import type { Report } from '../../model/report.ts';
import { buildReport } from '../../report/build.ts';
import { renderReportJson } from '../../report/json.ts';
import { renderJunit } from '../../report/junit.ts';
import { renderSummary } from '../../report/summary.ts';
import type { FallbackReport } from '../../supervisor/messages.ts';
import { judgeResults } from '../judge/judge-results.ts';
import type { GatePlan } from '../plan/plan.ts';
import { describeUnrun } from '../run/run-suite.ts';

/**
 * Renders what is written where the gate itself comes to no end: the report of a gate that was interrupted by `cause` before
 * anything ran. It is made before the server under test starts, so that nothing the server does has a part in it.
 */
export async function renderFallback(
  plan: GatePlan,
  {
    cause,
    startedAt,
    redactor,
    summaryPath,
  }: { cause: string; startedAt: Date; redactor: Redactor; summaryPath: string | null },
): Promise<{ report: Report; files: FallbackReport['files'] }> {
  const suites = plan.suites.map((planned) => describeUnrun(planned, { code: 'infrastructure', message: cause }));
  const today = startedAt.toISOString().slice(0, 'YYYY-MM-DD'.length);
  const { revision, shard, policyNotes } = plan;
  const judgement = judgeResults(suites, { baseline: null, today });
  const about = { startedAt: startedAt.toISOString(), durationMs: 0, generator, revision, shard, server: null };
  const report = buildReport(redactDeep({ ...about, ...judgement, notes: policyNotes, stopsJob: true }, redactor));
  const inReports = (name: string, text: string) => ({
    path: resolve(plan.reportDir.path, name),
    text: redactor.redact(text),
    mode: 'replace' as const,
  });
  const summary = plan.summary && summaryPath !== null ? [summaryPath] : [];
  return {
    report,
    files: [
      inReports('report.json', renderReportJson(report)),
      inReports('junit.xml', renderJunit(report)),
      ...summary.map((path) => ({
        path,
        text: redactor.redact(renderSummary(report, { iterations: [] })),
        mode: 'append' as const,
      })),
    ],
  };
}
