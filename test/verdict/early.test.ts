import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyPolicyLayer } from '../../src/model/policy.ts';
import type { CaseResults } from '../../src/model/results.ts';
import { countOutstanding } from '../../src/verdict/bounds.ts';
import { assessSuite, judgeSuite } from '../../src/verdict/judge.ts';
import { decideEarly } from '../../src/verdict/early.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createRun, createSuiteResults } from '../support/factories/results-factory.ts';
import { countDraws } from '../support/property-runs.ts';

const names = ['case-0', 'case-1', 'case-2'];
const rate = fc.constantFrom(0, 0.5, 0.8, 0.9, 1);
/** Mostly this, so that every outcome is common. */
const seldom = <T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(usual) }, other);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => seldom<T | null>(null, arbitrary);

/** Cases of which some iterations have ended. */
const cases: fc.Arbitrary<CaseResults[]> = fc
  .array(
    fc.record({
      passed: fc.nat({ max: 6 }),
      failed: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat({ max: 3 })),
      outstanding: fc.nat({ max: 4 }),
      tags: fc.subarray(['smoke', 'model']),
      isRequired: seldom(false, fc.constant(true)),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((draws) =>
    draws.map(({ outstanding, ...draw }, index) =>
      createCaseResults({
        ...draw,
        id: `case-${index}`,
        planned: draw.passed + draw.failed + outstanding,
        unscored: outstanding,
      }),
    ),
  )
  .filter((members) => members.some(({ planned }) => planned > 0));

const policy = fc
  .record({
    confidence: seldom(null, fc.constant(ofPolicy(0.9))),
    tag: maybe(rate),
    cases: fc.array(fc.record({ name: fc.constantFrom(...names), value: rate, source: fc.constant('p:1') }), {
      maxLength: 2,
    }),
    required: seldom([], fc.subarray(names)),
    quarantine: maybe(
      fc.record({ case: fc.constantFrom(...names), expires: fc.constantFrom('2026-09-20', '2026-10-01') }),
    ),
    onStaleQuarantine: seldom<'warn' | 'fail'>('warn', fc.constant('fail')),
    p95IterationMs: seldom(null, fc.constant(ofPolicy(100))),
  })
  .map((draw) =>
    createPolicy({
      confidence: draw.confidence,
      tags: draw.tag === null ? [] : [{ name: 'smoke', ...ofPolicy(draw.tag) }],
      cases: draw.cases,
      required: draw.required.map((name) => ({ name, ...ofPolicy(true as const) })),
      quarantine: draw.quarantine === null ? [] : [createQuarantineEntry(draw.quarantine)],
      onStaleQuarantine: ofPolicy(draw.onStaleQuarantine),
      budgets: { ...emptyPolicyLayer.budgets, p95IterationMs: draw.p95IterationMs },
    }),
  );

/** The suite as it would be, if of the outstanding iterations these shares passed and they took this long. */
function complete(members: readonly CaseResults[], shares: readonly number[], durationMs: number) {
  const completed = members.map((member, index) => {
    const outstanding = countOutstanding(member);
    const passing = Math.round(outstanding * (shares[index] ?? 0));
    return {
      ...member,
      passed: member.passed + passing,
      failed: member.failed + outstanding - passing,
      unscored: 0,
      durationsMs: Array.from({ length: member.planned }, () => durationMs),
    };
  });
  return createSuiteResults({ cases: completed });
}

const shares = fc.array(fc.constantFrom(0, 0.25, 0.5, 0.75, 1), { minLength: 3, maxLength: 3 });
const partial = (members: CaseResults[]) => createSuiteResults({ cases: members });

describe('a verdict that is settled early', () => {
  it('is the verdict for every outcome of the missing iterations', () => {
    const seen = new Map<string | null, number>();
    fc.assert(
      fc.property(
        cases,
        rate,
        policy,
        shares,
        fc.constantFrom(50, 500),
        (members, minimumPassRate, drawn, shares, durationMs) => {
          const requirements = { ...drawn.requirements, ...atLeast(minimumPassRate) };
          const policy = { ...drawn, requirements };
          const settled = decideEarly(partial(members), policy);
          seen.set(settled, (seen.get(settled) ?? 0) + 1);
          if (settled === null) return;
          for (const draw of [shares, [0, 0, 0], [1, 1, 1]]) {
            const { outcome } = judgeSuite(complete(members, draw, durationMs), { policy });
            expect(outcome).toBe(settled);
          }
        },
      ),
      { numRuns: countDraws(20_000) },
    );
    for (const settled of ['passed', 'failed', null]) expect(seen.get(settled)).toBeGreaterThan(125);
  });

  it('is found as early as possible if only passes decide', () => {
    fc.assert(
      fc.property(cases, rate, (members, minimum) => {
        fc.pre(members.some(({ passed, failed }) => passed + failed > 0));
        const policy = createPolicy(atLeast(minimum));
        const outcomes = [0, 1].map(
          (share) => judgeSuite(complete(members, [share, share, share], 1), { policy }).outcome,
        );
        const isOpen = decideEarly(partial(members), policy) === null;
        expect(isOpen).toBe(outcomes[0] !== outcomes[1]);
      }),
      { numRuns: 3000 },
    );
  });

  const member = (overrides: Partial<CaseResults>) => createCaseResults({ planned: 10, ...overrides });

  it.each<[string, Partial<CaseResults>, number, 'passed' | 'failed' | null]>([
    ['9 of 10 cannot be reached any more', { passed: 1, failed: 2, unscored: 7 }, 0.9, 'failed'],
    ['9 of 10 can just be reached', { passed: 1, failed: 1, unscored: 8 }, 0.9, null],
    ['half have passed', { passed: 5, failed: 0, unscored: 5 }, 0.5, 'passed'],
    ['one is missing to half', { passed: 4, failed: 5, unscored: 1 }, 0.5, null],
    ['nothing has ended', { passed: 0, failed: 0, unscored: 10 }, 0, null],
    ['a required case failed once', { passed: 8, failed: 1, unscored: 1, isRequired: true }, 0, 'failed'],
  ])('says so: %s', (_, overrides, minimum, expected) => {
    expect(decideEarly(partial([member(overrides)]), createPolicy(atLeast(minimum)))).toBe(expected);
  });

  it('is not settled early if other rules than the pass rate decide', () => {
    const enough = partial([member({ passed: 9, unscored: 1 })]);
    const half = atLeast(0.5);
    const budgets = emptyPolicyLayer.budgets;
    const policies = [
      createPolicy({ ...half, confidence: ofPolicy(0.9) }),
      createPolicy({ ...half, budgets: { ...budgets, tokens: ofPolicy(5) } }),
      createPolicy({ ...half, budgets: { ...budgets, wallTimeMs: ofPolicy(5) } }),
      createPolicy({
        ...half,
        quarantine: [createQuarantineEntry({ case: 'other' })],
        onStaleQuarantine: ofPolicy('fail'),
      }),
    ];
    expect(policies.map((policy) => decideEarly(enough, policy))).toEqual([null, null, null, null]);
    expect(decideEarly(enough, createPolicy({ ...half, quarantine: [createQuarantineEntry({ case: 'other' })] }))).toBe(
      'passed',
    );
    expect(decideEarly({ ...enough, unknownIterations: 1 }, createPolicy(half))).toBeNull();
  });
});

describe('a run that was stopped early', () => {
  const stop = (members: CaseResults[]) => {
    const results = createSuiteResults({ cases: members, isStoppedEarly: true });
    return { ...results, run: results.run && createRun({ ...results.run, status: 'cancelled' }) };
  };
  const cut = [
    createCaseResults({ id: 'adds', passed: 1, failed: 2, planned: 5, unscored: 2 }),
    createCaseResults({ id: 'asks', title: 'Asks', passed: 0, planned: 5, unscored: 5, isRequired: true }),
  ];

  it('has the settled verdict, with a reason that says that the run was stopped early', () => {
    const { verdict, assessments, repeats } = assessSuite(stop(cut), { policy: createPolicy() });
    expect(verdict).toEqual({
      outcome: 'failed',
      reasons: [
        {
          code: 'below-minimum',
          message:
            '1 of 3 iterations passed (33.3%), the minimum is 90% (from evals/math.evals.yaml:4); stopped early, since 7 iterations outstanding could not change that',
          suiteId: 'math',
        },
      ],
    });
    expect(assessments.map(({ state, isDecisive }) => [state, isDecisive])).toEqual([
      ['not-met', true],
      ['unknown', false],
    ]);
    // Which iterations ran depends on what they came to.
    expect(repeats).toBeNull();
  });

  it('is inconclusive if its verdict is open, such as under another minimum', () => {
    const { outcome, reasons } = judgeSuite(stop(cut), { policy: createPolicy(atLeast(0.5)) });
    expect([outcome, reasons.map(({ code }) => code)]).toEqual(['inconclusive', ['run-not-completed']]);
    const cancelled = { ...stop(cut), isStoppedEarly: false };
    expect(judgeSuite(cancelled, { policy: createPolicy() }).outcome).toBe('inconclusive');
  });

  it('is inconclusive where anything is missing from what ran', () => {
    expect(judgeSuite({ ...stop(cut), isComplete: false }, { policy: createPolicy() }).outcome).toBe('inconclusive');
    expect(
      judgeSuite({ ...stop(cut), interruption: { code: 'server-lost', message: 'gone' } }, { policy: createPolicy() })
        .outcome,
    ).toBe('inconclusive');
    expect(
      judgeSuite(stop([{ ...cut[0], planned: 6 } as CaseResults, ...cut.slice(1)]), { policy: createPolicy() }).outcome,
    ).toBe('inconclusive');
  });
});
