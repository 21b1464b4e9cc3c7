// The entry `mcp-eval-ci`. It has to be cheap to load: what runs a gate is loaded by the call that needs it (bench/library-import.ts). A name
// in an entry is a promise; test/public-surface.test.ts pins the lists.
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
export type { Logger } from './base/logger.ts';
export { describeProgress, type GateProgress, type ProgressListener } from './gate/run/progress.ts';
export type { Reporter } from './gate/publish/reporters.ts';
export { capture, compareBehaviour, compareSurfaces, runGate } from './library/functions.ts';
export type { CapturedEvals, CaptureOptions, CaptureSession } from './library/capture.ts';
export type { CompareBehaviourOptions } from './library/compare-behaviour.ts';
export type { CompareSurfacesOptions, SurfaceComparison } from './library/compare-surfaces.ts';
export type { GivenOptions } from './library/option-texts.ts';
export type { FinishedIteration, RunGateOptions } from './library/run-gate.ts';
export { defineModel, type OwnModel } from './library/own-model.ts';
export { defineReporter } from './library/reporter.ts';
export type { MeasuredBehaviour, MeasuredDifference } from './model/behaviour.ts';
export type { CaseReport, IterationFailure } from './model/case-report.ts';
export type { GatePolicy } from './model/policy.ts';
export type { RequirementReport, Report, ServerReport, SuiteReport, Totals } from './model/report.ts';
export type { ReportedResults, RunReport } from './model/results.ts';
export type { SurfaceFile } from './model/surface.ts';
export type { SurfaceChange, SurfaceReport } from './model/surface-report.ts';
export type { Verdict, VerdictOutcome, VerdictReason } from './model/verdict.ts';
export type { InProcessServer, ServerFactory } from './server/in-process-server.ts';
export type { PolicyInput } from './suite/policy-schema.ts';
export type { SuiteInput } from './suite/suite-schema.ts';
