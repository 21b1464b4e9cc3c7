import { describe, expect, it } from 'vitest';
import { describeRateChanges } from '../../src/report/document/baseline.ts';
import { toText } from '../../src/report/document/block.ts';
import { compareWithBaseline, listRegressions } from '../../src/verdict/compare-baseline.ts';
import { createBaseline, createBaselineCase } from '../support/factories/baseline-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

/** Cases of ten iterations, of which so many passed then, and now. */
function compareCases(
  counts: ReadonlyArray<[then: number, now: number]>,
  maximumRateDrop: number | null,
  overTasks?: ReadonlySet<string>,
) {
  const then = counts.map(([passed], index) => createBaselineCase({ id: `case-${index}`, passed, total: 10 }));
  const now = counts.map(([, passed], index) =>
    createCaseResults({ id: `case-${index}`, passed, failed: 10 - passed }),
  );
  return compareWithBaseline(createBaseline(then), [createSuiteResults({ cases: now })], {
    maximumRegressions: 1000,
    maximumRateDrop,
    ...(overTasks !== undefined && { overTasks }),
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

describe('a maximum rate drop over tasks', () => {
  const tasks = new Set(['math']);
  const oneBroken = [[10, 0], ...many(19, [10, 10])] as Array<[number, number]>;

  it('fails a suite of which most cases fell, and not one of which a single case broke', () => {
    const fallen = compareCases(many(20, [10, 8]), 0.1, tasks);
    expect(fallen.rates).toMatchObject([{ tasks: { cases: 20, pValue: expect.closeTo(1 / 2 ** 20, 15) } }]);
    expect(listRegressions(fallen)[0]?.message).toMatch(/now, which chance explains over tasks with p < 0\.001;/);
    expect(describeRateChanges(fallen).map(toText)).toEqual([
      expect.stringMatching(/ Over tasks: p = below 0\.001 for/),
    ]);
    // Of these cases it is a fall that chance does not explain.
    expect(listRegressions(compareCases(oneBroken, 0.01))).toHaveLength(1);
    expect(listRegressions(compareCases(oneBroken, 0.01, tasks))).toEqual([]);
  });

  it('tests these cases where fewer than five have as many iterations as before, and says so', () => {
    const few = compareCases(many(4, [10, 5]), 0.1, tasks);
    expect(few.rates).toMatchObject([{ tasks: { cases: 4, pValue: null } }]);
    expect(listRegressions(few)[0]?.message).toMatch(/now, which chance explains with p < 0\.001;/);
    expect(describeRateChanges(few).map(toText)[0]).toMatch(
      / 4 cases with as many iterations as before show nothing about tasks, for which there have to be five; the test is of these cases\.$/,
    );
    expect(compareCases(many(5, [10, 5]), 0.1, tasks).rates).toMatchObject([{ tasks: { cases: 5, pValue: 1 / 32 } }]);
  });

  it('leaves out cases with another number of iterations, of which a small fall is likelier than a large rise', () => {
    const then = many(8, [1, 1]).map(([passed], index) =>
      createBaselineCase({ id: `case-${index}`, passed, total: 1 }),
    );
    const now = then.map(({ id }) => createCaseResults({ id, passed: 9, failed: 1 }));
    const { rates } = compareWithBaseline(createBaseline(then), [createSuiteResults({ cases: now })], {
      maximumRegressions: 1000,
      maximumRateDrop: 0.05,
      overTasks: tasks,
    });
    expect(rates).toMatchObject([
      { tasks: { cases: 0, pValue: null }, fallPValue: expect.closeTo((10 / 11) ** 8, 10) },
    ]);
  });
});
