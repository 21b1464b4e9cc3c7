import type { Baseline, BaselineCase } from '../../../src/model/comparison.ts';
import type { SuiteResults } from '../../../src/model/results.ts';

/** A case of three passed iterations in the suite `math`, with the definition of `createCaseResults`. */
export function createBaselineCase(overrides: Partial<BaselineCase> = {}): BaselineCase {
  return {
    suiteId: 'math',
    id: 'adds',
    title: 'Adds two numbers',
    passed: 3,
    total: 3,
    definitionHash: '5f2c1b0a9d8e7f60',
    replayed: 0,
    ...overrides,
  };
}

export function createBaseline(cases: BaselineCase[] = [createBaselineCase()]): Baseline {
  return {
    source: 'branch:main',
    startedAt: '2026-09-20T03:00:00.000Z',
    commit: '0123456789abcdef0123456789abcdef01234567',
    branch: 'main',
    cases,
  };
}

/** The baseline that a gate with these results writes. */
export function toBaseline(suites: readonly SuiteResults[]): Baseline {
  return createBaseline(
    suites.flatMap(({ suiteId, cases }) =>
      cases.map(({ id, title, passed, failed, definitionHash, replayed }) => {
        return { suiteId, id, title, passed, total: passed + failed, definitionHash, replayed: replayed.total };
      }),
    ),
  );
}
