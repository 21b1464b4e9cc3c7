import { type Check, isJudge } from '../checks/assertion.ts';
import type { Step } from '../cases/step.ts';
import type { LocatedJudge } from '../cases/suite.ts';
import type { Finding } from './findings.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

/** Sets the suite's model on a judge that names none. Returns any other check unchanged. */
export function fillJudgeModel(check: Check, judgeModel: string | undefined): Check {
  if (!isJudge(check) || check.model !== undefined || judgeModel === undefined) return check;
  return { ...check, model: judgeModel };
}

/** Sets the suite's model on the judge of an `assert` step. */
export function fillModelOfStep(step: Step, judgeModel: string | undefined): Step {
  if (step.kind !== 'assert' || !('type' in step.assertion)) return step;
  return { ...step, assertion: fillJudgeModel(step.assertion, judgeModel) };
}

/** Lists the judges among checks with their locations. `path` leads to the list. */
export function locateJudges(checks: readonly Check[], document: SourceDocument, path: DocumentPath): LocatedJudge[] {
  return checks.flatMap((judge, index) =>
    isJudge(judge) ? [{ judge, location: document.locateValue([...path, index]) }] : [],
  );
}

/** Lists the judges among the steps of a case with their locations. `path` leads to the list. */
export function locateStepJudges(steps: readonly Step[], document: SourceDocument, path: DocumentPath): LocatedJudge[] {
  return steps.flatMap((step, index) =>
    step.kind === 'assert' && isJudge(step.assertion)
      ? [{ judge: step.assertion, location: document.locateValue([...path, index]) }]
      : [],
  );
}

/** Finds judges for which neither they nor their suite name a model. */
export function findJudgesWithoutModel(judges: readonly LocatedJudge[]): Finding[] {
  return judges.flatMap(({ judge, location }) => {
    if (judge.model !== undefined) return [];
    const message = 'This judge has no model; set `model` next to its rubric, or `judgeModel` in the suite';
    return [{ ...location, code: 'missing-judge-model', message }];
  });
}
