// The entry `mcp-eval-ci/parts`: what a gate is made of, for programs that do more than run one. These names follow the gate, so that a minor
// version may change them.
export { systemClock, type Clock } from '../base/time.ts';
export { silentLogger, type Logger } from '../base/logger.ts';
export { createRedactor, Secret, type Redactor } from '../base/redaction.ts';
export type { GateContext } from '../gate/run/context.ts';
export { runPlan as gate, type JobFiles, type JobResult as GateResult, type ReportSinks } from '../gate/job.ts';
export { parseGateOptions } from '../gate/options.ts';
export type { OptionDescription } from '../gate/options/define-option.ts';
export { listOptions } from '../gate/options/list.ts';
export type { GateOptions } from '../gate/options/schema.ts';
export { planGate, type GatePlan, type PlanContext } from '../gate/plan/plan.ts';
export type { Suite, SuiteCase } from '../cases/suite.ts';
export { planAnnotations, type Annotation } from '../report/annotations.ts';
export {
  createServiceClient,
  type EvalServiceClient,
  type EvalServiceClientOptions,
} from '../service/create-client.ts';
export { readSuite } from '../suite/read.ts';
export { loadSuites } from '../suite/load.ts';
