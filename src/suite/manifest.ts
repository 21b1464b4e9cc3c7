import type { SuiteOutline } from '../model/results.ts';
import { asksModel, type Suite } from '../cases/suite.ts';
import { hashDefinition } from './definition-hash.ts';
import { identifyCaseHost } from './model-settings.ts';

/** Takes from an evals file the data that is needed to count its results. `whole` is the suite before the selection. */
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
      // A case that asks no model has none, even if it names one.
      const model = asksModel(testCase) ? testCase.model : null;
      const hasPrompt = testCase.steps.some(({ step }) => step.kind === 'prompt');
      const host = hasPrompt ? identifyCaseHost(testCase.modelSettings) : null;
      return {
        id,
        title,
        ...(variantOf.length > 0 && { variantOf: [...variantOf] }),
        tags,
        isRequired,
        location,
        model,
        ...(host !== null && { host }),
        definitionHash: hashDefinition(testCase, suite),
        runs,
        ...(testCase.isDeterministic === true && { isDeterministic: true as const }),
        // If another case has a range, states that a case with a fixed number of runs has exactly that many.
        ...(hasRange && testCase.isDeterministic !== true && { maxRuns }),
      };
    }),
    leftOut: whole.cases.map((testCase) => testCase.id).filter((caseId) => !selected.has(caseId)),
  };
}
