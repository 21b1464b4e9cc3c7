import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Counts } from '../../src/model/quantities.ts';
import { classifyCounts, compareWithBaseline } from '../../src/verdict/compare-baseline.ts';
import { toBaseline } from '../support/factories/baseline-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const counts: fc.Arbitrary<Counts> = fc
  .tuple(fc.nat({ max: 12 }), fc.nat({ max: 12 }))
  .map(([passed, failed]) => ({ passed, total: passed + failed }));

const suites = fc
  .array(
    fc.record({
      suite: fc.constantFrom('a', 'b'),
      id: fc.constantFrom('x', 'y', 'z'),
      counts,
      hash: fc.constantFrom('1', '2'),
    }),
    { maxLength: 6 },
  )
  .map((draws) =>
    [...Map.groupBy(draws, ({ suite }) => suite)].map(([suiteId, members]) =>
      createSuiteResults({
        suiteId,
        cases: [...new Map(members.map((each) => [each.id, each])).values()].map(({ id, counts, hash }) =>
          createCaseResults({ id, passed: counts.passed, failed: counts.total - counts.passed, definitionHash: hash }),
        ),
      }),
    ),
  );

const mirrored = { regressed: 'fixed', fixed: 'regressed', new: 'removed', removed: 'new' } as Record<string, string>;

const noLimits = { maximumRegressions: 0, maximumRateDrop: null };

describe('the comparison of any results', () => {
  it('is symmetric when both sides are swapped', () => {
    fc.assert(
      fc.property(counts, counts, (a, b) => {
        const change = classifyCounts(a, b);
        expect(classifyCounts(b, a)).toBe(mirrored[change] ?? change);
      }),
      { numRuns: 5000 },
    );
  });

  it('never finds a regression because one more iteration passed', () => {
    fc.assert(
      fc.property(counts, counts, (baseline, { passed, total }) => {
        fc.pre(total > 0 && classifyCounts(baseline, { passed, total }) !== 'regressed');
        expect(classifyCounts(baseline, { passed: passed + 1, total: total + 1 })).not.toBe('regressed');
      }),
      { numRuns: 5000 },
    );
  });

  it('finds no change against itself, except in flaky or unscored cases', () => {
    fc.assert(
      fc.property(suites, (results) => {
        const { cases, counts, notRun, comparable } = compareWithBaseline(toBaseline(results), results, noLimits);
        expect(cases.filter(({ change }) => change !== 'unsteady' && change !== 'unscored')).toEqual([]);
        expect([counts.regressed, notRun]).toEqual([0, 0]);
        expect(comparable.baseline).toEqual(comparable.current);
      }),
    );
  });

  it('accounts for every case of both sides once, in whatever order they come', () => {
    fc.assert(
      fc.property(suites, suites, (before, now) => {
        const baseline = toBaseline(before);
        const comparison = compareWithBaseline(baseline, now, noLimits);
        const total = Object.values(comparison.counts).reduce((sum, each) => sum + each, 0);
        const keys = [...before, ...now].flatMap(({ suiteId, cases }) => cases.map(({ id }) => `${suiteId}/${id}`));
        expect(total + comparison.notRun).toBe(new Set(keys).size);
        const reversed = now.toReversed().map((suite) => ({ ...suite, cases: suite.cases.toReversed() }));
        const other = compareWithBaseline({ ...baseline, cases: baseline.cases.toReversed() }, reversed, noLimits);
        expect(other.counts).toEqual(comparison.counts);
        expect(other.comparable).toEqual(comparison.comparable);
      }),
    );
  });
});
