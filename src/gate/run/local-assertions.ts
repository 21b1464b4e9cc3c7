import { isAdvisory } from '../../checks/assertion.ts';
import type { OwnJudgement } from '../../model/results.ts';
import type { Iteration, StepResult } from '../../model/run.ts';
import type { Step } from '../../cases/step.ts';
import type { Suite, SuiteCase } from '../../cases/suite.ts';
import type { Dialect } from '../../suite/dialect.ts';

/** Judges assertions that the service does not know, from the service's record of an iteration. */
export interface TraceJudge {
  hasAssertions(iteration: Iteration): boolean;
  judge(iteration: Iteration, trace: unknown): Promise<OwnJudgement>;
  /** Numbers the steps as in the file; the service has only the steps that it knows. */
  placeSteps(iteration: Iteration, steps: readonly StepResult[]): StepResult[];
}

/** Opens the judge. `caseIds` maps the service's id of a case to the gate's; if a service gives no id, a unique title identifies the case. */
export async function openTraceJudge(
  suite: Suite,
  caseIds: ReadonlyMap<string, string>,
  dialect: Dialect,
): Promise<TraceJudge | null> {
  const { judgeTrace, listTraceAssertions } = await import('../../engine/judge-trace.ts');
  const judged = suite.cases.flatMap((item) => {
    const assertions = listTraceAssertions(item, suite, dialect);
    const steps = item.steps.map(({ step }) => step);
    return assertions.length === 0 && !steps.some(isAdvice) ? [] : [{ item, assertions, steps }];
  });
  if (judged.length === 0) return null;

  const byId = new Map(judged.map((entry) => [entry.item.id, entry]));
  const find = ({ testCaseId, title }: Iteration) =>
    byId.get((testCaseId === null ? findByTitle(suite, title)?.id : caseIds.get(testCaseId)) ?? '');
  return {
    hasAssertions: (iteration) => (find(iteration)?.assertions.length ?? 0) > 0,
    judge: async (iteration, trace) => {
      const found = find(iteration);
      return found === undefined ? { kind: 'passed' } : await judgeTrace(trace, found.assertions, found.steps);
    },
    placeSteps: (iteration, steps) => {
      const indices = new Map(find(iteration)?.steps.map(({ id }, index) => [id, index]));
      return steps.map((step) => ({ ...step, stepIndex: indices.get(step.stepId) ?? step.stepIndex }));
    },
  };
}

/** Checks if a step is advisory. Such steps are not sent to the service, which shifts the index of later steps. */
function isAdvice(step: Step): boolean {
  return step.kind === 'assert' && isAdvisory(step.assertion);
}

function findByTitle({ cases }: Suite, title: string | null): SuiteCase | undefined {
  const [only, ...others] = cases.filter((item) => item.title === title);
  return others.length === 0 ? only : undefined;
}
