import type { SuiteOutline } from '../model/results.ts';
import { asksModel, type Suite } from '../cases/suite.ts';
import { hashDefinition } from './definition-hash.ts';

/** Takes from an evals file what counting its results needs. `whole` is the suite with the cases that were not selected. */
export function outlineSuite(suite: Suite, whole: Suite): SuiteOutline {
  const { id, name, location, cases } = suite;
  const selected = new Set(cases.map((testCase) => testCase.id));
  const hasRange = cases.some(({ maxRuns }) => maxRuns !== undefined);
  return {
    id,
    name,
    file: location.file,
    cases: cases.map((testCase) => {
      const { id, title, variantOf, tags, isRequired, location, runs, maxRuns = runs } = testCase;
      // Otherwise no model takes part, whichever is named.
      const model = asksModel(testCase) ? testCase.model : null;
      return {
        id,
        title,
        ...(variantOf.length > 0 && { variantOf: [...variantOf] }),
        tags,
        isRequired,
        location,
        model,
        definitionHash: hashDefinition(testCase, suite),
        runs,
        ...(testCase.isDeterministic === true && { isDeterministic: true as const }),
        // Next to a case with a range, one with a number of its own runs that often and no more.
        ...(hasRange && testCase.isDeterministic !== true && { maxRuns }),
      };
    }),
    leftOut: whole.cases.map((testCase) => testCase.id).filter((caseId) => !selected.has(caseId)),
  };
}
