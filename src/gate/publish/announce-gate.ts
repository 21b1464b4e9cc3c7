import { join, resolve } from 'node:path';
import { redactDeep, type Redactor } from '../../base/redaction.ts';
import { generator } from '../../base/version.ts';
import type { Report } from '../../model/report.ts';
import { buildReport } from '../../report/build.ts';
import { renderReportJson } from '../../report/report-json.ts';
import { renderJunit } from '../../report/junit.ts';
import { renderSummary } from '../../report/summary.ts';
import { causePlaceholder, type FallbackReport } from '../../supervisor/supervisor-messages.ts';
import type { Supervision } from '../../supervisor/supervised.ts';
import { judgeGate } from '../../verdict/judge-gate.ts';
import { composePolicy } from '../judge/compose-policy.ts';
import type { GatePlan } from '../plan/plan.ts';
import { describeUnrun } from '../run/planned-results.ts';
import type { WrittenFiles } from './publish-files.ts';

/** The time that collecting and clearing up may take after the `timeout`. */
const overrunMs = 15_000;

/** Sends the supervisor, if there is one, the deadline of the verdict, and the files to write if there is no verdict by then. */
export async function announceGate(
  plan: GatePlan,
  supervision: Supervision,
  context: {
    startedAt: Date;
    redactor: Redactor;
    summaryPath: string | null;
    /** Renders further files. */
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

/**
 * Renders the files for a gate that does not finish: the report of a gate that `cause` interrupted before anything ran. They are rendered
 * before the server under test starts, so that the server cannot influence them.
 */
async function renderFallback(
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
  const policy = composePolicy(suites, { plan: { ...plan, protectionFindings: [] }, baseline: null, today });
  const {
    suites: judged,
    verdict,
    models,
  } = judgeGate(
    suites.map(({ results }) => results),
    policy,
  );
  const about = { startedAt: startedAt.toISOString(), durationMs: 0, generator, revision, shard, server: null };
  const report = buildReport(
    redactDeep({ ...about, policy, suites: judged, verdict, models, notes: policyNotes, stopsJob: true }, redactor),
  );
  const inReports = (name: string, text: string) => ({
    path: resolve(plan.reportDir.path, name),
    root: plan.reportDir.root,
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
        root: null,
        text: redactor.redact(renderSummary(report, { iterations: [] })),
        mode: 'append' as const,
      })),
    ],
  };
}
