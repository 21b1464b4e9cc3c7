// The public surface of the library. A name here is a promise; test/public-surface.test.ts pins the list.
export { systemClock, type Clock } from './base/time.ts';
export {
  CancelledError,
  ConfigurationError,
  DeadlineError,
  GateError,
  NetworkError,
  ProtocolError,
  ServerStartError,
  ServiceError,
  formatConfigurationIssue,
  type ConfigurationIssue,
} from './base/errors.ts';
export { silentLogger, type Logger } from './base/logger.ts';
export { createRedactor, Secret, type Redactor } from './base/redaction.ts';
export type { GateContext } from './gate/run/context.ts';
export { runPlan as gate, type JobFiles, type JobResult as GateResult, type ReportSinks } from './gate/job.ts';
export { parseGateOptions } from './gate/options.ts';
export type { OptionDescription } from './gate/options/define-option.ts';
export { listOptions } from './gate/options/list.ts';
export type { GateOptions } from './gate/options/schema.ts';
export { planGate, type GatePlan, type PlanContext } from './gate/plan/plan.ts';
export { describeProgress, type GateProgress, type ProgressListener } from './gate/run/progress.ts';
export type { GivenOptions } from './library/option-texts.ts';
export { runGate, type FinishedIteration, type RunGateOptions } from './library/run-gate.ts';
export type { Evidence, IterationMark, IterationTrace } from './model/evidence.ts';
export type { CaseReport, IterationFailure } from './model/case-report.ts';
export type { GatePolicy } from './model/policy.ts';
export type { RequirementReport, Report, ServerReport, SuiteReport, Totals } from './model/report.ts';
export type { ReportedResults, RunReport } from './model/results.ts';
export type { Suite, SuiteCase } from './cases/suite.ts';
export type { Verdict, VerdictOutcome, VerdictReason } from './model/verdict.ts';
export { planAnnotations, type Annotation } from './report/annotations.ts';
export { renderBadge } from './report/badge.ts';
export { renderCtrf } from './report/ctrf.ts';
export { renderHtml, type PageOptions } from './report/html/page.ts';
export { renderReportJson } from './report/report-json.ts';
export { renderJunit } from './report/junit.ts';
export { parseReport } from './report/report-json.ts';
export { renderSummary } from './report/summary.ts';
export { renderTerminal } from './report/terminal.ts';
export { createServiceClient, type EvalServiceClient, type EvalServiceClientOptions } from './service/create-client.ts';
export type { PolicyInput } from './suite/policy-schema.ts';
export { readSuite } from './suite/read.ts';
export { loadSuites } from './suite/load.ts';
