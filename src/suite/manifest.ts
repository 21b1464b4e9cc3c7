import type { SuiteOutline } from '../model/results.ts';
import type { Suite } from '../model/suite.ts';
import { hashDefinition } from './definition-hash.ts';

/** Takes from an evals file what counting its results needs. `whole` is the suite with the cases that were not selected. */
export function outlineSuite(suite: Suite, whole: Suite): SuiteOutline {
  const { id, name, location, cases } = suite;
  const selected = new Set(cases.map((item) => item.id));
  return {
    id,
    name,
    file: location.file,
    cases: cases.map((item) => {
      const { id, title, tags, isRequired, location, runs } = item;
      return { id, title, tags, isRequired, location, definitionHash: hashDefinition(item, suite), runs };
    }),
    leftOut: whole.cases.map((item) => item.id).filter((caseId) => !selected.has(caseId)),
  };
}
