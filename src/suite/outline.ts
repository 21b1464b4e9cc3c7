import type { SuiteOutline } from '../model/results.ts';
import type { Suite } from '../model/suite.ts';

/** Takes from an evals file what counting its results needs. */
export function outlineSuite({ id, name, location, cases }: Suite): SuiteOutline {
  return {
    id,
    name,
    file: location.file,
    cases: cases.map(({ id, title, tags, isRequired, location, runs }) => {
      return { id, title, tags, isRequired, location, runs };
    }),
  };
}
