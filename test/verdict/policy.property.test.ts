import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CaseResults, SuiteResults } from '../../src/model/results.ts';
import { assessSuite, judgeSuite } from '../../src/verdict/judge.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';
import { countDraws } from '../support/property-runs.ts';

const names = ['case-0', 'case-1', 'case-2', 'gone'];
const rate = fc.constantFrom(0, 0.5, 0.8, 0.9, 0.95, 1);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

const cases: fc.Arbitrary<CaseResults[]> = fc
  .array(
    fc.record({
      passed: fc.nat({ max: 40 }),
      failed: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 4 })),
      tags: fc.subarray(['smoke', 'model']),
      isRequired: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((draws) => draws.map((draw, index) => createCaseResults({ ...draw, id: `case-${index}`, title: `C${index}` })));

const policy = fc
  .record({
    minimum: rate,
    confidence: maybe(fc.constantFrom(0.8, 0.95).map(ofPolicy)),
    tags: maybe(rate.map((value) => ({ name: 'smoke', ...ofPolicy(value) }))),
    cases: fc.array(fc.record({ name: fc.constantFrom(...names), value: rate, source: fc.constant('p:1') }), {
      maxLength: 2,
    }),
    required: fc.subarray(names.slice(0, 3)),
    quarantine: maybe(
      fc.record({ case: fc.constantFrom(...names), expires: fc.constantFrom('2026-09-20', '2026-10-01') }),
    ),
    onStaleQuarantine: fc.constantFrom('warn' as const, 'fail' as const),
  })
  .map((draw) =>
    createPolicy({
      ...atLeast(draw.minimum),
      confidence: draw.confidence,
      tags: draw.tags === null ? [] : [draw.tags],
      cases: draw.cases,
      required: draw.required.map((name) => ({ name, ...ofPolicy(true as const) })),
      quarantine: draw.quarantine === null ? [] : [createQuarantineEntry(draw.quarantine)],
      onStaleQuarantine: ofPolicy(draw.onStaleQuarantine),
    }),
  );

const suite = cases.map((cases) => createSuiteResults({ cases }));

function addPass(results: SuiteResults, index: number): SuiteResults {
  const cases = results.cases.map((member, position) =>
    position === index ? { ...member, passed: member.passed + 1, planned: member.planned + 1 } : member,
  );
  return createSuiteResults({ cases });
}

describe('judgeSuite under any policy', () => {
  it('never turns from passed to failed when one more iteration passes, unless that ends a quarantine', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(suite, policy, fc.nat({ max: 3 }), (results, policy, index) => {
        fc.pre(index < results.cases.length);
        const before = judgeSuite(results, { policy }).outcome;
        seen.add(before);
        if (before !== 'passed') return;
        const after = judgeSuite(addPass(results, index), { policy });
        const isOver = after.reasons.every(({ code }) => code === 'quarantine-stale');
        expect(after.outcome === 'failed' && !isOver).toBe(false);
      }),
      { numRuns: countDraws(20_000) },
    );
    expect([...seen].toSorted()).toEqual(['failed', 'inconclusive', 'passed']);
  });

  it('does not depend on the order of cases or of entries', () => {
    fc.assert(
      fc.property(suite, policy, (results, policy) => {
        const { requirements, today } = policy;
        const { required, cases } = requirements;
        const turned = {
          today,
          requirements: { ...requirements, required: required.toReversed(), cases: cases.toReversed() },
        };
        const there = assessSuite(results, { policy });
        const back = assessSuite({ ...results, cases: results.cases.toReversed() }, { policy: turned });
        const sort = (texts: string[]) => texts.toSorted();
        expect(back.verdict.outcome).toBe(there.verdict.outcome);
        expect(sort(back.assessments.map(({ finding }) => finding))).toEqual(
          sort(there.assessments.map(({ finding }) => finding)),
        );
      }),
      { numRuns: 3000 },
    );
  });

  it('passes only if every decisive requirement is met, and fails only if one is not', () => {
    fc.assert(
      fc.property(suite, policy, (results, policy) => {
        const { verdict, assessments } = assessSuite(results, { policy });
        const decisive = assessments.filter(({ isDecisive }) => isDecisive).map(({ state }) => state);
        const isEveryRequirementMet = decisive.every((state) => state === 'met');
        expect(verdict.outcome === 'passed' && !isEveryRequirementMet).toBe(false);
        expect(verdict.outcome === 'failed').toBe(decisive.includes('not-met'));
      }),
      { numRuns: 3000 },
    );
  });
});
