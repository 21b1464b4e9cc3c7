import type { SuiteOutline } from '../model/results.ts';
import type { Suite } from '../model/suite.ts';
import { hashDefinition } from './definition.ts';

/** Takes from an evals file what counting its results needs. */
export function outlineSuite(suite: Suite): SuiteOutline {
  const { id, name, location, cases } = suite;
  return {
    id,
    name,
    file: location.file,
    cases: cases.map((item) => {
      const { id, title, tags, isRequired, location, runs } = item;
      return { id, title, tags, isRequired, location, definitionHash: hashDefinition(item, suite), runs };
    }),
  };
}
