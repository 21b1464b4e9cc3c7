import { describe, expect, it } from 'vitest';
import { compareWithBaseline, listRegressions } from '../../src/verdict/compare.ts';
import { createBaseline, createBaselineCase } from '../support/factories/baseline-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

/** Cases of ten iterations, of which so many passed then, and now. */
function compareCases(counts: ReadonlyArray<[then: number, now: number]>, maximumRateDrop: number | null) {
  const then = counts.map(([passed], index) => createBaselineCase({ id: `case-${index}`, passed, total: 10 }));
  const now = counts.map(([, passed], index) =>
    createCaseResults({ id: `case-${index}`, passed, failed: 10 - passed }),
  );
  return compareWithBaseline(createBaseline(then), [createSuiteResults({ cases: now })], {
    maximumRegressions: 1000,
    maximumRateDrop,
  });
}

const many = (count: number, pair: [then: number, now: number]) => Array.from({ length: count }, () => pair);

describe('the pass rates against a baseline', () => {
  it('are compared with an interval of their difference, and a test of the cases', () => {
    const [rate] = compareCases([...many(18, [10, 8]), [9, 10], [10, 10]], null).rates;
    expect(rate).toMatchObject({
      suiteId: 'math',
      baseline: { passed: 199, total: 200 },
      current: { passed: 164, total: 200 },
      worse: 18,
      better: 1,
    });
    expect(rate?.difference).toBeCloseTo(-0.175, 10);
    expect(rate?.lower).toBeLessThan(-0.175);
    expect(rate?.upper).toBeGreaterThan(-0.175);
    // 2 * (1 + 19) / 2^19: one of nineteen that changed, or fewer, the other way.
    expect(rate?.pValue).toBeCloseTo(40 / 2 ** 19, 12);
  });

  it('leave out suites with nothing to compare', () => {
    const baseline = createBaseline([createBaselineCase({ definitionHash: 'another' })]);
    const limits = { maximumRegressions: 0, maximumRateDrop: 0 };
    expect(compareWithBaseline(baseline, [createSuiteResults()], limits).rates).toEqual([]);
  });
});

describe('a maximum rate drop', () => {
  it('fails a suite whose rate fell by more, where that is shown', () => {
    const cases = many(20, [10, 8]);
    expect(listRegressions(compareCases(cases, 0.1))).toEqual([
      {
        code: 'regressed',
        message: expect.stringMatching(
          /^Of what can be compared, 100% passed in the baseline \(branch:main\) and 80% now, which chance explains with p < 0\.001; at most 10% may be lost\.$/,
        ),
        suiteId: 'math',
      },
    ]);
    expect(listRegressions(compareCases(cases, null))).toEqual([]);
  });

  it('allows a fall of exactly as much', () => {
    expect(listRegressions(compareCases(many(20, [10, 8]), 0.2))).toEqual([]);
    expect(listRegressions(compareCases(many(20, [10, 8]), 0.1999))).toHaveLength(1);
  });

  it('does not fail for a fall that too few iterations show', () => {
    expect(listRegressions(compareCases([[10, 8]], 0))).toEqual([]);
    expect(listRegressions(compareCases(many(40, [10, 8]), 0))).toHaveLength(1);
  });

  it('fails a suite that always passed before, and falls in most of its cases', () => {
    const cases: Array<[number, number]> = [...many(19, [10, 8]), [10, 10]];
    expect(listRegressions(compareCases(cases, 0.05))).toHaveLength(1);
    expect(listRegressions(compareCases([[10, 9], ...many(19, [10, 10] as [number, number])], 0))).toEqual([]);
  });

  it('does not fail for a rise', () => {
    expect(listRegressions(compareCases(many(20, [8, 10]), 0))).toEqual([]);
  });
});
