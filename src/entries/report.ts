// The entry `mcp-eval-ci/report`: reads reports and writes them in other formats.
export { parseReport, renderReport } from '../library/functions.ts';
export type { RenderReportOptions } from '../report/render-as.ts';
export type { Evidence, IterationMark, IterationTrace } from '../model/evidence.ts';
export type { CaseReport, IterationFailure } from '../model/case-report.ts';
export type { RequirementReport, Report, ServerReport, SuiteReport, Totals } from '../model/report.ts';
export type { Verdict, VerdictOutcome, VerdictReason } from '../model/verdict.ts';
