import { describe, expect, it } from 'vitest';
import type { BaseResults, PairedCase } from '../../src/model/base-comparison.ts';
import { describeBase } from '../../src/report/base-comparison.ts';
import { compareWithBase, countPairs, listBaseRegressions, listSuspects } from '../../src/verdict/compare-base.ts';
import { createPolicy, createQuarantineEntry, demanded } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const names = Array.from({ length: 20 }, (_, index) => `case-${index}`);
const gatePolicy = { maximumRegressions: demanded(0), maximumRateDrop: null, baseline: null, today: '2026-09-21' };

/** Twenty cases that pass in every round on both sides, but for those that are given. */
function createSides(
  others: Readonly<Record<string, Pick<PairedCase, 'base' | 'head'>>> = {},
  { rounds = 12, problem = null, ...overrides }: Partial<BaseResults> & { rounds?: number } = {},
) {
  const all = 'p'.repeat(rounds);
  const cases = names.map((id) => ({ id, base: all, head: all, cached: 0, ...others[id] }));
  const base: BaseResults = { label: 'main', commit: null, seed: 1, problem, newCases: [], cases, ...overrides };
  return createSuiteResults({ cases: names.map((id) => createCaseResults({ id, title: id })), base });
}

const compare = (
  results: ReturnType<typeof createSides>,
  { policy = gatePolicy, layer = {} }: { policy?: Parameters<typeof compareWithBase>[1]; layer?: object } = {},
) => {
  const comparison = compareWithBase([{ results, requirements: createPolicy(layer).requirements }], policy);
  if (comparison === null) throw new Error('The results have a base.');
  return comparison;
};

const broken = (rounds: number) => ({ base: 'p'.repeat(rounds), head: 'f'.repeat(rounds) });

describe('compareWithBase', () => {
  it.each([
    [12, ['case-3']],
    [11, []],
  ])('after %d rounds names of twenty cases the broken ones: %j', (rounds, worse) => {
    const comparison = compare(createSides({ 'case-3': broken(rounds) }, { rounds }));
    expect(comparison.cases.filter(({ isWorse }) => isWorse).map(({ id }) => id)).toEqual(worse);
    expect(listBaseRegressions(comparison).map(({ caseId }) => caseId)).toEqual(worse);
  });

  it('names a deterministic case after one pair, and no other one', () => {
    const sides = createSides({ 'case-1': broken(1), 'case-2': broken(1) }, { rounds: 1 });
    const cases = sides.cases.map((item) =>
      item.id === 'case-1' ? { ...item, isDeterministic: true as const } : item,
    );
    const comparison = compare({ ...sides, cases });
    expect(comparison.cases.filter(({ isWorse }) => isWorse).map(({ id }) => id)).toEqual(['case-1']);
  });

  it('names no case that fails as often on both sides', () => {
    const flaky = { base: 'pfpfpfpfpfpf', head: 'fpfpfpfpfpfp' };
    const comparison = compare(createSides({ 'case-3': flaky }));
    expect(comparison).toMatchObject({ isWorse: false });
    expect(listBaseRegressions(comparison)).toEqual([]);
  });

  it('allows as many worse cases as the policy does, and names all of them where there are more', () => {
    const comparison = compare(createSides({ 'case-3': broken(12), 'case-4': broken(12) }));
    expect(listBaseRegressions({ ...comparison, maximumRegressions: 2 })).toEqual([]);
    expect(listBaseRegressions({ ...comparison, maximumRegressions: 1 })).toHaveLength(2);
  });

  it('fails a suite whose rate falls by more than the maximum, where the pairs show it', () => {
    const half = Object.fromEntries(
      names.map((id, index) => [id, { base: 'pppp', head: index < 6 ? 'ffff' : 'pppp' }]),
    );
    const policy = { ...gatePolicy, maximumRegressions: demanded(20), maximumRateDrop: demanded(0.1) };
    const [reason, ...others] = listBaseRegressions(compare(createSides(half), { policy }));
    expect(reason).toMatchObject({ code: 'regressed', suiteId: 'math' });
    expect(others).toEqual([]);
    const few = { ...policy, maximumRateDrop: demanded(0.4) };
    expect(listBaseRegressions(compare(createSides(half), { policy: few }))).toEqual([]);
  });

  it('leaves out cases in quarantine', () => {
    const layer = { quarantine: [createQuarantineEntry({ case: 'case-3' })] };
    const comparison = compare(createSides({ 'case-3': broken(12) }), { layer });
    expect(comparison.cases.map(({ id }) => id)).not.toContain('case-3');
  });

  it('compares nothing where the base has a problem, and says which', () => {
    const comparison = compare(createSides({ 'case-3': broken(12) }, { problem: 'It did not start.' }));
    expect(comparison.cases).toEqual([]);
    expect(listBaseRegressions(comparison)).toEqual([]);
    expect(describeBase(comparison)).toBe('Not compared with the base (`main`): It did not start.');
  });

  it('is nothing where no base was asked for', () => {
    const { base: _base, ...results } = createSides();
    expect(compareWithBase([{ results, requirements: createPolicy().requirements }], gatePolicy)).toBeNull();
  });
});

describe('countPairs', () => {
  it('counts only rounds with a result on both sides', () => {
    expect(countPairs({ base: 'pp-pf', head: 'pfp-p' })).toEqual({
      base: { passed: 2, total: 3 },
      head: { passed: 2, total: 3 },
      broken: 1,
      fixed: 1,
    });
  });
});

describe('listSuspects', () => {
  it('lists cases that only the base passes until their pairs are enough, and none that a pair speaks for', () => {
    const list = (pairs: Pick<PairedCase, 'base' | 'head'>) =>
      listSuspects({ cases: [{ id: 'a', cached: 0, ...pairs }] }, { cases: 20, confidence: 0.95 });
    expect(list(broken(1))).toEqual(['a']);
    expect(list(broken(11))).toEqual(['a']);
    expect(list(broken(12))).toEqual([]);
    expect(list({ base: 'pp', head: 'fp' })).toEqual([]);
    expect(list({ base: 'ff', head: 'ff' })).toEqual([]);
  });
});
