import { describe, expect, it } from 'vitest';
import {
  countLeastRounds,
  countRoundsBeforeDecision,
  estimateFurther,
  followRounds,
} from '../../src/verdict/follow-rounds.ts';
import { countFixedDesign } from '../../src/verdict/statistics/fixed-design.ts';
import { splitConfidence } from '../../src/verdict/statistics/errors.ts';
import { decideRate } from '../../src/verdict/statistics/sequential.ts';

const errors = splitConfidence(0.95);
const rule = { minimum: 0.8, errors, min: 1, isShared: false };
const shared = { ...rule, isShared: true };
const repeat = (count: number, byRound: string) => Array.from({ length: count }, () => ({ byRound }));

describe('followRounds', () => {
  it('passes 20 cases after one round and fails them likewise', () => {
    expect(followRounds(repeat(24, 'p'), rule)).toMatchObject({ state: 'passed', decidedAfter: 1 });
    expect(followRounds(repeat(24, 'f'), rule)).toMatchObject({ state: 'failed', decidedAfter: 1 });
    expect(followRounds(repeat(5, 'p'), rule)).toMatchObject({ state: 'open', decidedAfter: null, rounds: 1 });
  });

  it('decides nothing before the smallest number of rounds', () => {
    expect(followRounds(repeat(24, 'p'), { ...rule, min: 2 })).toMatchObject({ state: 'open' });
    expect(followRounds(repeat(24, 'pp'), { ...rule, min: 2 })).toMatchObject({ state: 'passed', decidedAfter: 2 });
  });

  it('keeps its first decision, whatever the rounds after it say', () => {
    const cases = repeat(24, 'pffff');
    expect(followRounds(cases, rule)).toMatchObject({ state: 'passed', decidedAfter: 1 });
    expect(followRounds(repeat(24, 'ffff'), rule)).toMatchObject({ state: 'failed', decidedAfter: 1 });
  });

  it('counts whole rounds alone, so that the cases that came first decide nothing', () => {
    const cases = [...repeat(23, 'pppp'), { byRound: '' }];
    expect(followRounds(cases, rule)).toMatchObject({ state: 'open', rounds: 0, path: [] });
    expect(followRounds([...repeat(23, 'pppp'), { byRound: 'p' }], rule)).toMatchObject({ state: 'passed', rounds: 1 });
  });

  it('agrees with decideRate at every round', () => {
    const results = ['pfpppppp', 'ppppfppp', 'pppppppp', 'ppfppppp'];
    const { path } = followRounds(repeat(0, '').concat(results.map((byRound) => ({ byRound }))), { ...rule, min: 100 });
    expect(path).toHaveLength(8);
    for (const { round, passed, failed, evidence } of path) {
      expect(passed + failed).toBe(round * 4);
      const decision = decideRate({ passed, failed }, rule);
      expect(evidence === 1 ? 'passed' : evidence === -1 ? 'failed' : 'open').toBe(decision);
    }
  });

  it('asks more of the others where a deterministic case failed, and less where it passed', () => {
    const others = repeat(9, 'ppp');
    const withKnown = (byRound: string) => followRounds([...others, { byRound, isDeterministic: true }], rule);
    expect(withKnown('p').remaining).toBeCloseTo(7 / 9, 12);
    expect(withKnown('f').remaining).toBeCloseTo(8 / 9, 12);
    expect([withKnown('p').state, withKnown('f').state]).toEqual(['passed', 'open']);
    expect(withKnown('')).toMatchObject({ state: 'open', rounds: 0 });
  });

  it('fails without a doubt where the known cases leave too little, and passes where they leave nothing', () => {
    const known = (letters: string) =>
      letters.split('').map((byRound) => ({ byRound, isDeterministic: true as const }));
    expect(followRounds([...known('fff'), ...repeat(2, 'p')], rule).state).toBe('failed');
    expect(followRounds([...known('pppp'), { byRound: 'f' }], rule).state).toBe('passed');
    expect(followRounds(known('pf'), rule).state).toBe('counted');
  });

  it('takes recorded answers for no evidence', () => {
    expect(followRounds(repeat(24, 'PPPP'), rule).state).toBe('counted');
    expect(followRounds([...repeat(10, 'PPPP'), ...repeat(10, 'p')], rule)).toMatchObject({ varying: 10, rounds: 1 });
    expect(followRounds(repeat(24, 'PPPp'), rule)).toMatchObject({ state: 'passed', decidedAfter: 1, rounds: 1 });
  });
});

describe('rounds whose iterations share a process', () => {
  it('are one observation each, however many cases they have', () => {
    for (const cases of [1, 24, 200]) {
      expect(followRounds(repeat(cases, 'p'.repeat(20)), shared)).toMatchObject({ state: 'open', rounds: 20 });
      expect(followRounds(repeat(cases, 'p'.repeat(21)), shared)).toMatchObject({ state: 'passed', decidedAfter: 21 });
      expect(followRounds(repeat(cases, 'fff'), shared)).toMatchObject({ state: 'failed', decidedAfter: 3 });
    }
  });

  it('show nothing by two states that take turns, which many independent iterations would', () => {
    const results = repeat(24, 'ppppfppppf');
    expect(followRounds(results, { ...rule, minimum: 0.7 })).toMatchObject({ state: 'passed' });
    expect(followRounds(results, { ...shared, minimum: 0.7 })).toMatchObject({ state: 'open' });
  });

  it('are counted by the evidence that decides', () => {
    const { path } = followRounds([...repeat(10, 'pppppppp'), ...repeat(2, 'fffppfff')], { ...shared, min: 100 });
    expect(path.map(({ passed, failed }) => passed + failed)).toEqual(path.map(({ round }) => round * 12));
    expect(path.every(({ evidence }) => Math.abs(evidence) < 1)).toBe(true);
    const empty = followRounds(repeat(24, ''), { ...shared, minimum: 0.9 });
    expect(countLeastRounds(empty, { decision: 'passed', errors })).toBe(44);
    expect(countRoundsBeforeDecision(empty, { ...shared, minimum: 0.9 })).toBe(2);
    const open = followRounds(repeat(24, 'pppp'), { ...shared, minimum: 0.9 });
    expect(estimateFurther(open, errors)).toBe(40 * 24);
  });
});

describe('rounds that are still to run', () => {
  it('are as many as can decide nothing, and one less would not do', () => {
    const followed = followRounds(repeat(2, 'p'), rule);
    const needed = countRoundsBeforeDecision(followed, rule);
    const decide = (further: number) => [
      decideRate({ passed: 2 + 2 * further, failed: 0 }, rule),
      decideRate({ passed: 2, failed: 2 * further }, rule),
    ];
    expect(decide(needed)).not.toEqual(['open', 'open']);
    for (let further = 1; further < needed; further += 1) expect(decide(further)).toEqual(['open', 'open']);
    expect(countRoundsBeforeDecision(followed, { ...rule, min: 50 })).toBe(49);
  });

  it('are estimated at the rate so far', () => {
    const followed = followRounds(repeat(4, 'pppppppppf'), { ...rule, min: 100 });
    const further = estimateFurther(followed, errors) ?? 0;
    const at = (total: number) => decideRate({ passed: 0.9 * total, failed: 0.1 * total }, rule);
    expect(at(40 + further)).toBe('passed');
    expect(at(40 + further - 4)).toBe('open');
    expect(estimateFurther(followRounds(repeat(10, 'ppppf'), { ...rule, min: 9 }), errors)).toBeNull();
  });

  it('are at least as many as a series of passes or failures takes', () => {
    const followed = followRounds(repeat(1, ''), { ...rule, minimum: 0.99 });
    expect(countLeastRounds(followed, { decision: 'failed', errors })).toBe(2);
    const toPass = countLeastRounds(followed, { decision: 'passed', errors }) ?? 0;
    const decide = (passed: number) => decideRate({ passed, failed: 0 }, { minimum: 0.99, errors });
    expect([decide(toPass - 1), decide(toPass)]).toEqual(['open', 'passed']);
  });
});

describe('countFixedDesign', () => {
  // scipy 1.17.1, binom.sf at each total.
  it.each([
    ['passed', 0.8, 620],
    ['failed', 0.8, 730],
    ['passed', 0.9, 305],
    ['failed', 0.9, 455],
  ] as const)('takes as many iterations as the exact test: %s at %d', (decision, minimum, iterations) => {
    expect(countFixedDesign(decision, { minimum, errors })).toBe(iterations);
  });

  it('compares with a rate of 100% where five points more are none', () => {
    expect(countFixedDesign('passed', { minimum: 0.98, errors })).toBe(185);
    expect(0.98 ** 185).toBeLessThanOrEqual(0.025);
    expect(0.98 ** 180).toBeGreaterThan(0.025);
  });
});
