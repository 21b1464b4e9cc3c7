import type { IterationMark } from '../model/evidence.ts';
import type { CaseReport } from '../model/case-report.ts';

/** More marks in a row say less than the counts. */
const maxMarks = 20;

const marks: Record<IterationMark['outcome'], string> = { passed: '✓', failed: '✗', unscored: '·' };

/** Draws the outcome of each iteration of a case, in their order: `✓✗✓`. */
export type MarkIterations = (testCase: CaseReport) => string | null;

/** Creates the drawing. Null for a case with one iteration, with more than a row can hold, or with unknown iterations. */
export function createIterationMarks(iterations: readonly IterationMark[]): MarkIterations {
  const byCase = Map.groupBy(iterations, ({ suiteId, caseId }) => `${suiteId}/${caseId}`);
  return ({ suiteId, id, planned }) => {
    const own = byCase.get(`${suiteId}/${id}`) ?? [];
    if (own.length < 2 || own.length > maxMarks || own.length !== planned) return null;
    return own
      .toSorted((a, b) => (a.iterationNumber ?? 0) - (b.iterationNumber ?? 0))
      .map(({ outcome }) => marks[outcome])
      .join('');
  };
}
