import { createHash } from 'node:crypto';
import { isRecord } from '../../../src/base/json.ts';
import { defaultMatchOptions, type MatchOptionsLayer, type TestCase } from '../../../src/cases/case.ts';
import type { StepResult } from '../../../src/model/run.ts';
import type { Step } from '../../../src/cases/step.ts';
import type { SuiteContent } from './bodies/stored-suite.ts';
import type { IterationProgress } from './store/iterations.ts';

/** A step of a case before it runs. */
type PlannedStep = Pick<StepResult, 'stepId' | 'stepIndex' | 'kind' | 'phase'>;

/** The definition of a case at the start of a run: cases change and are deleted, but runs stay unchanged. */
export interface PlannedCaseRecord {
  title: string;
  expectedOutput: string | null;
  /** In execution order. */
  steps: PlannedStep[];
  /** The hash of prompts, steps and expectations. */
  configHash: string;
  /** The hash of checks and match options. Null if the sender gave none. */
  evaluationHash: string | null;
}

export function describePlannedCase(testCase: TestCase): PlannedCaseRecord {
  const { title, steps, expectedOutput, scenario, isNegativeTest, advancedConfig, predicates, matchOptions } = testCase;
  return {
    title,
    expectedOutput: expectedOutput ?? null,
    steps: [
      ...planSteps(advancedConfig?.setup ?? [], 'setup'),
      ...planSteps(steps),
      ...planSteps(advancedConfig?.teardown ?? [], 'teardown'),
    ],
    configHash: hash([steps, expectedOutput, scenario, isNegativeTest, advancedConfig]),
    evaluationHash: hash([predicates, matchOptions]),
  };
}

/** The description of a case that its sender gives with a result. */
interface SentCase {
  caseTitle: string;
  query?: unknown;
  expectedOutput?: unknown;
  expectedToolCalls?: unknown;
  isNegativeTest?: unknown;
  advancedConfig?: unknown;
}

/** Describes the case of a sent result. `evaluationHash` is the hash of the configuration that scored it. */
export function describeIngestedCase(sent: SentCase, evaluationHash: string | null): PlannedCaseRecord {
  const { caseTitle: title, query, expectedOutput, expectedToolCalls, isNegativeTest, advancedConfig } = sent;
  const steps = isRecord(advancedConfig) && Array.isArray(advancedConfig['steps']) ? advancedConfig['steps'] : [];
  return {
    title,
    expectedOutput: typeof expectedOutput === 'string' ? expectedOutput : null,
    steps: steps.filter(isRecord).map(({ id, kind }, stepIndex) => ({
      stepId: typeof id === 'string' ? id : `step-${stepIndex + 1}`,
      stepIndex,
      kind: typeof kind === 'string' ? kind : 'unknown',
    })),
    configHash: hash([query, expectedOutput, expectedToolCalls, isNegativeTest, advancedConfig]),
    evaluationHash,
  };
}

/** Hashes the evaluation settings that all cases of a run share. */
export function hashEvaluation({ checks, matchOptions }: SuiteContent, override?: MatchOptionsLayer): string {
  return hash([checks, { ...defaultMatchOptions, ...matchOptions, ...override }]);
}

/**
 * Lists the steps of an iteration, one row per authored step: the plan before it ends, and the results after. An iteration that was cut off
 * by the end of its run reached none of them. Of an iteration that was executed elsewhere, the results are unknown.
 */
export function listSteps({ status, steps }: IterationProgress, planned: PlannedCaseRecord | undefined): StepResult[] {
  if (steps !== null) return steps;
  const isCut = status === 'cancelled';
  return (planned?.steps ?? []).map((step) => ({
    ...step,
    status: isCut ? 'skipped' : 'pending',
    reason: isCut ? 'The run ended before the iteration did.' : null,
  }));
}

function planSteps(steps: readonly Step[], phase?: PlannedStep['phase']): PlannedStep[] {
  return steps.map(({ id, kind }, stepIndex) => ({ stepId: id, stepIndex, kind, ...(phase && { phase }) }));
}

/** Hashes content. Undefined members are left out or become null. */
function hash(content: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(content) ?? 'null')
    .digest('hex');
}
