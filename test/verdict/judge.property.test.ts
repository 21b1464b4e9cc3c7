import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CaseResults, SuiteResults } from '../../src/model/results.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { joinVerdicts, judgeSuite } from '../../src/verdict/judge.ts';
import { atLeast, createPolicy } from '../support/factories/policy-factory.ts';
import { measuredSuites, suiteResults } from '../support/factories/results-arbitrary.ts';
import { countDraws } from '../support/property-runs.ts';

/** The rules once more, written from their statement in another way: one condition after the other, in fractions. */
function expectOutcome(results: SuiteResults, minimumPassRate: number): Verdict['outcome'] {
  let passed = 0n;
  let scored = 0n;
  let planned = 0n;
  let isRequiredBroken = false;
  let isComplete = results.isComplete;
  let hasFailures = false;
  if (results.unknownIterations !== 0) return 'inconclusive';
  if (results.interruption === null && results.run?.status !== 'completed') return 'inconclusive';
  for (const member of results.cases) {
    const read = member.passed + member.failed + member.unscored;
    if (read > member.planned) return 'inconclusive';
    if (read < member.planned || member.unscored > 0) isComplete = false;
    passed += BigInt(member.passed);
    scored += BigInt(member.passed + member.failed);
    planned += BigInt(member.planned);
    hasFailures ||= member.failed > 0;
    isRequiredBroken ||= member.isRequired && (member.failed > 0 || member.planned === 0);
  }
  if (results.run === null) return 'inconclusive';
  if (results.interruption === null) {
    const read = BigInt(results.iterationsRead);
    const { summary } = results.run;
    const total = summary === null ? read : BigInt(summary.total);
    const missing = summary === null ? 0n : BigInt(summary.passed - results.overruled) - passed;
    if (total < read || total > planned || read > planned) return 'inconclusive';
    if (missing < 0n || missing > total - read) return 'inconclusive';
    if (total !== read) isComplete = false;
    if (scored === 0n) return 'inconclusive';
  } else {
    isComplete = false;
    if (results.run.notes !== null && results.run.status !== 'completed') return 'inconclusive';
  }
  const minimum = BigInt(Math.round(minimumPassRate * 10_000));
  const isBroken = (passed + planned - scored) * 10_000n < minimum * planned || isRequiredBroken;
  const isDecided = isComplete ? isBroken : isBroken && hasFailures;
  if (isDecided) return results.tunnelBreaks > 0 ? 'inconclusive' : 'failed';
  return isComplete ? 'passed' : 'inconclusive';
}

function addPassingIteration(results: SuiteResults, index: number): SuiteResults {
  const { run } = results;
  return {
    ...results,
    iterationsRead: results.iterationsRead + 1,
    cases: results.cases.map((member, position) =>
      position === index ? { ...member, passed: member.passed + 1, planned: member.planned + 1 } : member,
    ),
    run: run && {
      ...run,
      summary: run.summary && { ...run.summary, total: run.summary.total + 1, passed: run.summary.passed + 1 },
    },
  };
}

describe('judgeSuite on any results', () => {
  it('agrees with an independent statement of the rules', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(measuredSuites, ({ results, minimum }) => {
        const verdict = judgeSuite(results, { policy: createPolicy(atLeast(minimum)) });
        seen.add(verdict.outcome);
        expect(verdict.outcome).toBe(expectOutcome(results, minimum));
        expect(verdict.reasons.length).toBeGreaterThan(0);
      }),
      { numRuns: countDraws(20_000) },
    );
    expect([...seen].toSorted()).toEqual(['failed', 'inconclusive', 'passed']);
  });

  it('stays passed when one more iteration passes', () => {
    fc.assert(
      fc.property(measuredSuites, fc.nat({ max: 3 }), ({ results, minimum }, index) => {
        const policy = createPolicy(atLeast(minimum));
        fc.pre(index < results.cases.length && judgeSuite(results, { policy }).outcome === 'passed');
        expect(judgeSuite(addPassingIteration(results, index), { policy }).outcome).toBe('passed');
      }),
      { numRuns: 2000 },
    );
  });

  it('does not depend on the order of the cases', () => {
    const reverse = (cases: CaseResults[]) => cases.toReversed();
    fc.assert(
      fc.property(measuredSuites, ({ results, minimum }) => {
        const policy = createPolicy(atLeast(minimum));
        const other = judgeSuite({ ...results, cases: reverse(results.cases) }, { policy });
        const verdict = judgeSuite(results, { policy });
        expect(other.outcome).toBe(verdict.outcome);
        expect(other.reasons.map(({ code }) => code)).toEqual(verdict.reasons.map(({ code }) => code));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('joinVerdicts on any verdicts', () => {
  it('passes only if there are suites and all of them passed', () => {
    fc.assert(
      fc.property(fc.array(suiteResults, { maxLength: 4 }), (suites) => {
        const verdicts = suites.map((results) => judgeSuite(results, { policy: createPolicy() }));
        const { outcome, reasons } = joinVerdicts(verdicts);
        expect(outcome === 'passed').toBe(
          suites.length > 0 && verdicts.every((verdict) => verdict.outcome === 'passed'),
        );
        expect(outcome === 'failed').toBe(verdicts.some((verdict) => verdict.outcome === 'failed'));
        const counted = verdicts.filter((verdict) => outcome === 'passed' || verdict.outcome !== 'passed');
        expect(reasons).toHaveLength(
          Math.max(
            1,
            counted.reduce((total, verdict) => total + verdict.reasons.length, 0),
          ),
        );
      }),
      { numRuns: 2000 },
    );
  });
});
