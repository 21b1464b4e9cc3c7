import { createHash } from 'node:crypto';
import { isRecord } from '../../../src/base/json.ts';
import { defaultMatchOptions, type MatchOptionsLayer, type TestCase } from '../../../src/model/case.ts';
import type { StepResult } from '../../../src/model/run.ts';
import type { Step } from '../../../src/model/step.ts';
import type { SuiteContent } from './bodies/suite.ts';
import type { IterationProgress } from './store/iterations.ts';

/** A step of a case before it ran. */
type PlannedStep = Pick<StepResult, 'stepId' | 'stepIndex' | 'kind' | 'phase'>;

/** What a run knew of a case when it began: cases change and are deleted, and runs stay as they were. */
export interface PlannedCaseRecord {
  title: string;
  expectedOutput: string | null;
  /** In the order in which they run. */
  steps: PlannedStep[];
  /** Of what the case does: prompts, steps, expectations. */
  configHash: string;
  /** Of what it is judged by: checks and match options. Null where its sender did not say. */
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

/** What the sender of a result says of its case. */
interface SentCase {
  caseTitle: string;
  query?: unknown;
  expectedOutput?: unknown;
  expectedToolCalls?: unknown;
  isNegativeTest?: unknown;
  advancedConfig?: unknown;
}

/** `evaluationHash` is the hash of the configuration that the result was scored with. */
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

/** Of what all cases of a run are judged by, in addition to what each says itself. */
export function hashEvaluation({ checks, matchOptions }: SuiteContent, override?: MatchOptionsLayer): string {
  return hash([checks, { ...defaultMatchOptions, ...matchOptions, ...override }]);
}

/**
 * Lists the steps of an iteration, one row per authored step: the results once it has ended, and the plan before. An iteration that
 * the end of its run cut off reached none of them; of one that was executed elsewhere nothing is known.
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

/** The same for the same content; what is undefined is left out or null. */
function hash(content: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(content) ?? 'null')
    .digest('hex');
}
