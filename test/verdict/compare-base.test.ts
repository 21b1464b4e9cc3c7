import { describe, expect, it } from 'vitest';
import type { BaseResults, PairedCase } from '../../src/model/base-comparison.ts';
import { describeBase } from '../../src/report/document/base.ts';
import { toText } from '../../src/report/document/block.ts';
import {
  compareWithBase,
  countPairs,
  limitConfirmingPairs,
  listBaseRegressions,
  listSuspects,
} from '../../src/verdict/compare-base.ts';
import { createPolicy, createQuarantineEntry, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const names = Array.from({ length: 20 }, (_, index) => `case-${index}`);
const gatePolicy = { maximumRegressions: ofPolicy(0), maximumRateDrop: null, baseline: null, today: '2026-09-21' };

/** Twenty cases that pass in every round on both sides, but for those that are given. */
function createSides(
  others: Readonly<Record<string, Pick<PairedCase, 'base' | 'head'> & Partial<PairedCase>>> = {},
  { rounds = 12, problem = null, ...overrides }: Partial<BaseResults> & { rounds?: number } = {},
) {
  const all = 'p'.repeat(rounds);
  const cases = names.map((id) => ({ id, base: all, head: all, cached: 0, confirming: 0, ...others[id] }));
  const base: BaseResults = {
    label: 'main',
    commit: null,
    seed: 1,
    problem,
    processes: 'iteration',
    newCases: [],
    cases,
    ...overrides,
  };
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
    [13, ['case-3']],
    [12, []],
  ])('after %d rounds names of twenty cases the broken ones: %j', (rounds, worse) => {
    const comparison = compare(createSides({ 'case-3': broken(rounds) }, { rounds }));
    expect(comparison.cases.filter(({ isWorse }) => isWorse).map(({ id }) => id)).toEqual(worse);
    expect(listBaseRegressions(comparison).map(({ caseId }) => caseId)).toEqual(worse);
  });

  it('names a deterministic case once a repetition has shown the same, and no other one', () => {
    const name = (head: string) => {
      const sides = createSides(
        { 'case-1': { base: 'pp', head }, 'case-2': { base: 'pp', head: 'ff' } },
        { rounds: 2 },
      );
      const cases = sides.cases.map((item) =>
        item.id === 'case-1' ? { ...item, isDeterministic: true as const } : item,
      );
      return compare({ ...sides, cases }).cases.flatMap(({ id, isWorse }) => (isWorse ? [id] : []));
    };
    expect(name('ff')).toEqual(['case-1']);
    expect(name('fp')).toEqual([]);
    expect(name('f-')).toEqual([]);
  });

  it('names no case that fails as often on both sides', () => {
    const flaky = { base: 'pfpfpfpfpfpf', head: 'fpfpfpfpfpfp' };
    const comparison = compare(createSides({ 'case-3': flaky }));
    expect(comparison).toMatchObject({ isWorse: false });
    expect(listBaseRegressions(comparison)).toEqual([]);
  });

  it('allows as many worse cases as the policy does, and names all of them where there are more', () => {
    const comparison = compare(createSides({ 'case-3': broken(13), 'case-4': broken(13) }));
    expect(listBaseRegressions({ ...comparison, maximumRegressions: 2 })).toEqual([]);
    expect(listBaseRegressions({ ...comparison, maximumRegressions: 1 })).toHaveLength(2);
  });

  it('fails a suite whose rate falls by more than the maximum, where the pairs show it', () => {
    const half = Object.fromEntries(
      names.map((id, index) => [id, { base: 'pppp', head: index < 6 ? 'ffff' : 'pppp' }]),
    );
    const policy = { ...gatePolicy, maximumRegressions: ofPolicy(20), maximumRateDrop: ofPolicy(0.1) };
    const [reason, ...others] = listBaseRegressions(compare(createSides(half, { rounds: 4 }), { policy }));
    expect(reason).toMatchObject({ code: 'regressed', suiteId: 'math' });
    expect(others).toEqual([]);
    const few = { ...policy, maximumRateDrop: ofPolicy(0.4) };
    expect(listBaseRegressions(compare(createSides(half, { rounds: 4 }), { policy: few }))).toEqual([]);
  });

  it('counts no round of a rate that ran only to confirm, or in which a case has no result', () => {
    const policy = { ...gatePolicy, maximumRegressions: ofPolicy(20), maximumRateDrop: ofPolicy(0.1) };
    const sides = createSides({ 'case-3': { ...broken(21), confirming: 20 } }, { rounds: 1 });
    const [rate] = compare(sides, { policy }).rates;
    expect(rate).toMatchObject({ baseline: { passed: 20, total: 20 }, current: { passed: 19, total: 20 } });
    expect(listBaseRegressions(compare(sides, { policy }))).toEqual([]);
    // A tag was decided after the first round, and the other cases ran no further.
    const partial = createSides({ 'case-3': broken(21), 'case-4': broken(21) }, { rounds: 1 });
    expect(compare(partial, { policy }).rates).toMatchObject([{ current: { passed: 18, total: 20 } }]);
    expect(listBaseRegressions(compare(partial, { policy }))).toEqual([]);
  });

  it('says which cases have results on the change alone, unless a model takes part', () => {
    const only = { 'case-3': { base: '------------', head: 'pppppppppppp' } };
    const sides = createSides(only);
    const results = { ...sides, cases: sides.cases.map((item) => ({ ...item, passed: 12, total: 12 })) };
    expect(listBaseRegressions(compare(results)).map(({ code, caseId }) => [code, caseId])).toEqual([
      ['base-not-compared', 'case-3'],
    ]);
    const withModel = { ...results, cases: results.cases.map((item) => ({ ...item, model: 'x/y' })) };
    expect(listBaseRegressions(compare(withModel))).toEqual([]);
  });

  it('leaves out cases in quarantine', () => {
    const layer = { quarantine: [createQuarantineEntry({ case: 'case-3' })] };
    const comparison = compare(createSides({ 'case-3': broken(12) }), { layer });
    expect(comparison.cases.map(({ id }) => id)).not.toContain('case-3');
  });

  it('compares nothing where the base has a problem, and leaves the verdict open unless a baseline decides', () => {
    const comparison = compare(createSides({ 'case-3': broken(12) }, { problem: 'It did not start.' }));
    expect(comparison.cases).toEqual([]);
    expect(listBaseRegressions(comparison)).toMatchObject([{ code: 'base-not-compared' }]);
    expect(listBaseRegressions({ ...comparison, isDecisive: false })).toEqual([]);
    expect(toText(describeBase(comparison))).toBe('Not compared with the base (main): It did not start.');
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
  const family = { cases: 20, confidence: 0.95, deterministic: new Set(['known']) };
  const list = (pairs: Pick<PairedCase, 'base' | 'head'>, id = 'a') =>
    listSuspects({ cases: [{ id, cached: 0, confirming: 0, ...pairs }] }, family);

  it('lists cases that more pairs speak against, with the rounds that would settle them', () => {
    expect(list(broken(1))).toEqual([{ id: 'a', rounds: 12 }]);
    expect(list(broken(12))).toEqual([{ id: 'a', rounds: 1 }]);
    expect(list({ base: 'ppp', head: 'ffp' })).toEqual([{ id: 'a', rounds: 11 }]);
    expect(list({ base: 'pppfp', head: 'fffpf' })[0]?.rounds).toBeGreaterThan(10);
  });

  it('lists none that is settled, cannot be settled, or fails as often in the base', () => {
    expect(list(broken(13))).toEqual([]);
    expect(list({ base: 'pf', head: 'fp' })).toEqual([]);
    expect(list({ base: 'ff', head: 'ff' })).toEqual([]);
    expect(list({ base: `${'f'.repeat(40)}${'p'.repeat(41)}`, head: `${'p'.repeat(40)}${'f'.repeat(41)}` })).toEqual(
      [],
    );
  });

  it('gives a case up that what is left of 25 further rounds cannot settle', () => {
    const after = (confirming: number) => ({ base: 'p'.repeat(confirming + 1), head: `f${'p'.repeat(confirming)}` });
    const listAfter = (confirming: number) =>
      listSuspects({ cases: [{ id: 'a', cached: 0, confirming, ...after(confirming) }] }, family);
    expect(listAfter(13)).toEqual([{ id: 'a', rounds: 12 }]);
    expect(listAfter(14)).toEqual([]);
  });

  it('repeats a deterministic case once', () => {
    expect(list(broken(1), 'known')).toEqual([{ id: 'known', rounds: 1 }]);
    expect(list(broken(2), 'known')).toEqual([]);
  });
});

describe('limitConfirmingPairs', () => {
  it('allows twice the pairs that the plan asked for, and enough for what the policy allows to regress', () => {
    const cases = names.map((id) => ({ id, base: 'ppppp', head: 'ppppp', cached: 0, confirming: 0 }));
    expect(limitConfirmingPairs({ cases }, 0)).toBe(200);
    expect(limitConfirmingPairs({ cases: cases.slice(0, 1) }, 0)).toBe(25);
    expect(limitConfirmingPairs({ cases: cases.slice(0, 1) }, 1)).toBe(50);
  });
});
