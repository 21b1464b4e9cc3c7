import { readFile } from 'node:fs/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CaseResults, SuiteResults } from '../../src/model/results.ts';
import type { ReasonCode, Verdict } from '../../src/model/verdict.ts';
import { completeCases, countOutstanding } from '../../src/verdict/bounds.ts';
import { assessSuite, judgeSuite, type JudgeOptions } from '../../src/verdict/judge.ts';
import { reasonRules } from '../../src/verdict/reason-rules.ts';
import { atLeast, createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createRun, createSuiteResults } from '../support/factories/results-factory.ts';
import { countDraws } from '../support/property-runs.ts';

const lost = (passed: number, failed: number, unscored: number) =>
  createSuiteResults({ cases: [createCaseResults({ passed, failed, unscored })] });

/** As many ways as the outstanding iterations can turn out, counted per case; each may be replayed where the case has a recording. */
function listCompletions(cases: readonly CaseResults[]): CaseResults[][] {
  return cases.reduce<CaseResults[][]>(
    (lists, member) => {
      const outstanding = countOutstanding(member);
      const upTo = (most: number) => Array.from({ length: most + 1 }, (_, count) => count);
      const { replayed } = member;
      const ways = upTo(outstanding).flatMap((passed) => {
        const failed = outstanding - passed;
        const ofRecordings =
          replayed.total === 0
            ? [[0, 0] as const]
            : upTo(passed).flatMap((one) => upTo(failed).map((other) => [one, other] as const));
        return ofRecordings.map(([replayedPassed, replayedFailed]) => ({
          ...member,
          unscored: 0,
          passed: member.passed + passed,
          failed: member.failed + failed,
          replayed: {
            passed: replayed.passed + replayedPassed,
            total: replayed.total + replayedPassed + replayedFailed,
          },
        }));
      });
      return lists.flatMap((list) => ways.map((way) => [...list, way]));
    },
    [[]],
  );
}

const judgeComplete = (cases: CaseResults[], options: JudgeOptions) =>
  judgeSuite(createSuiteResults({ cases }), options).outcome;

const members = fc
  .array(
    fc.record({
      passed: fc.nat({ max: 3 }),
      failed: fc.nat({ max: 4 }),
      unscored: fc.nat({ max: 2 }),
      missing: fc.nat({ max: 2 }),
      isRequired: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
      tags: fc.subarray(['smoke']),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((draws) =>
    draws.map(({ missing, ...draw }, index) =>
      createCaseResults({
        ...draw,
        id: `case-${index}`,
        planned: Math.max(1, draw.passed + draw.failed + draw.unscored + missing),
      }),
    ),
  );
const rate = fc.constantFrom(0, 0.2, 0.5, 0.8, 1);
const policies = fc
  .record({
    tag: fc.option(rate, { nil: null }),
    single: fc.option(rate, { nil: null }),
    required: fc.subarray(['case-0']),
  })
  .map(({ tag, single, required }) => ({
    tags: tag === null ? [] : [{ name: 'smoke', ...ofPolicy(tag) }],
    cases: single === null ? [] : [{ name: 'case-0', ...ofPolicy(single) }],
    required: required.map((name) => ({ name, ...ofPolicy(true as const) })),
  }));

describe('results with gaps', () => {
  it('fail exactly if no outcome of the missing iterations passes', () => {
    const seen = new Set<Verdict['outcome']>();
    fc.assert(
      fc.property(members, rate, policies, (cases, minimumPassRate, layer) => {
        const hasTag = cases.some(({ tags }) => tags.includes('smoke'));
        const policy = createPolicy({ ...atLeast(minimumPassRate), ...layer, tags: hasTag ? layer.tags : [] });
        const scored = cases.reduce((sum, { passed, failed }) => sum + passed + failed, 0);
        fc.pre(scored > 0);
        const results = createSuiteResults({ cases, run: createRun() });
        const { outcome } = judgeSuite(results, { policy });
        const ways = listCompletions(cases).map((way) => judgeComplete(way, { policy }));
        const isComplete = cases.every((member) => countOutstanding(member) === 0);
        seen.add(outcome);
        expect(outcome === 'failed').toBe(!ways.includes('passed'));
        // I1: whatever is missing, a suite passes only when it is there.
        if (!isComplete) expect(outcome).not.toBe('passed');
        else expect([outcome]).toEqual(ways);
      }),
      { numRuns: countDraws(3000) },
    );
    expect([...seen].toSorted()).toEqual(['failed', 'inconclusive', 'passed']);
  });

  it('fail under a confidence only if every outcome of the missing iterations fails', () => {
    let decided = 0;
    fc.assert(
      fc.property(
        members,
        fc.constantFrom(0.5, 0.8, 0.95),
        fc.constantFrom(0.8, 0.95),
        fc.boolean(),
        (drawn, minimum, sure, isRecorded) => {
          // As many failures of each case from a recording as there can be, but one of each kind live.
          const cases = drawn.map((member) => {
            const failed = Math.max(0, member.failed - 1);
            return isRecorded ? { ...member, replayed: { passed: 0, total: Math.min(2, failed) } } : member;
          });
          const policy = createPolicy({
            ...atLeast(minimum),
            confidence: ofPolicy(sure),
            cases: [{ name: 'case-0', ...ofPolicy(minimum) }],
          });
          const results = createSuiteResults({ cases, run: createRun() });
          if (judgeSuite(results, { policy }).outcome !== 'failed') return;
          const ways = listCompletions(cases).map((way) => judgeComplete(way, { policy }));
          expect(new Set(ways)).toEqual(new Set(['failed']));
          if (cases.some((member) => countOutstanding(member) > 0)) decided += 1;
        },
      ),
      { numRuns: countDraws(1000) },
    );
    expect(decided).toBeGreaterThan(5);
  });

  it('say what the missing iterations could at most have changed', () => {
    const { verdict, assessments } = assessSuite(lost(0, 9, 1), { policy: createPolicy() });
    expect(verdict).toEqual({
      outcome: 'failed',
      reasons: [
        {
          code: 'below-minimum',
          message:
            '0 of 9 iterations passed (0%), the minimum is 90% (from evals/math.evals.yaml:4); 1 iteration has no result, and if all passed, the rate would be 10%',
          suiteId: 'math',
        },
        { code: 'results-unknown', message: '1 iteration ended without a result.', suiteId: 'math' },
      ],
    });
    expect(assessments.map(({ state }) => state)).toEqual(['not-met']);
    expect(judgeSuite(lost(9, 0, 1), { policy: createPolicy() }).outcome).toBe('inconclusive');
    expect(judgeSuite(lost(8, 1, 1), { policy: createPolicy() }).outcome).toBe('inconclusive');
    expect(judgeSuite(lost(8, 2, 1), { policy: createPolicy() }).outcome).toBe('failed');
  });

  it('leave open the requirements that the missing iterations could still meet', () => {
    const cases = [
      createCaseResults({ id: 'a', title: 'A', passed: 0, failed: 3, isRequired: true }),
      createCaseResults({ id: 'b', title: 'B', passed: 30, unscored: 1, isRequired: true }),
    ];
    const { verdict, assessments } = assessSuite(createSuiteResults({ cases }), { policy: createPolicy() });
    expect(verdict.reasons.map(({ code }) => code)).toEqual(['required-failed', 'results-unknown']);
    expect(assessments.map(({ subject, state }) => [subject, state])).toEqual([
      [null, 'unknown'],
      ['A', 'not-met'],
      ['B', 'unknown'],
    ]);
  });

  it('with a confidence report the bound that holds for every outcome of the missing iterations', () => {
    const policy = createPolicy({ confidence: ofPolicy(0.95) });
    expect(judgeSuite(lost(0, 9, 1), { policy }).reasons[0]?.message).toBe(
      '0 of 9 iterations passed (0%), the minimum is 90% (from evals/math.evals.yaml:4); 1 iteration has no result, and if all passed, the rate would be at most 44.6% with 95% confidence',
    );
    expect(judgeSuite(lost(5, 4, 1), { policy }).outcome).toBe('failed');
    expect(judgeSuite(lost(7, 2, 1), { policy }).outcome).toBe('inconclusive');
  });

  const failing = lost(0, 9, 1);
  const interrupt = (code: ReasonCode): SuiteResults => ({ ...failing, interruption: { code, message: 'x' } });
  const run = (status: string) => ({ ...failing, run: createRun({ status }) });
  it.each<[string, SuiteResults, Verdict['outcome']]>([
    ['the deadline of the gate', interrupt('deadline'), 'failed'],
    ['a budget that ended the run', interrupt('budget-exceeded'), 'failed'],
    ['a lost server', interrupt('server-lost'), 'inconclusive'],
    ['a lost tunnel', interrupt('tunnel-lost'), 'inconclusive'],
    ['a service that cannot be read', interrupt('infrastructure'), 'inconclusive'],
    ['a cancelled gate', interrupt('cancelled'), 'inconclusive'],
    ['a run that the service ended', run('failed'), 'inconclusive'],
    ['a run that ran out of time', run('timed_out'), 'inconclusive'],
    ['a run that was cancelled elsewhere', run('cancelled'), 'inconclusive'],
    ['a tunnel that broke off and came back', { ...failing, tunnelBreaks: 1 }, 'inconclusive'],
    ['unread pages', { ...lost(0, 9, 0), isComplete: false }, 'failed'],
    [
      'planned iterations that are missing',
      createSuiteResults({ cases: [createCaseResults({ passed: 0, failed: 9, planned: 10 })] }),
      'failed',
    ],
    [
      'a service that counts an iteration more than could be read',
      createSuiteResults({
        cases: [createCaseResults({ passed: 0, failed: 9, planned: 10 })],
        run: createRun({ summary: { total: 10, passed: 1, failed: 9 } }),
      }),
      'failed',
    ],
    [
      'a service that counts more passes than could be missing',
      createSuiteResults({
        cases: [createCaseResults({ passed: 0, failed: 9, planned: 10 })],
        run: createRun({ summary: { total: 10, passed: 2, failed: 8 } }),
      }),
      'inconclusive',
    ],
    ['iterations of no case', { ...failing, unknownIterations: 1, iterationsRead: 11 }, 'inconclusive'],
    [
      'more iterations of a case than were planned, cut short by the deadline',
      {
        ...createSuiteResults({ cases: [createCaseResults({ passed: 0, failed: 9, planned: 8 })] }),
        interruption: { code: 'deadline', message: 'x' },
      },
      'inconclusive',
    ],
    [
      'the deadline over a suite of the service, of which the plan is not known',
      { ...interrupt('deadline'), file: null },
      'inconclusive',
    ],
    ['an iteration without a result in a suite of the service', { ...failing, file: null }, 'failed'],
  ])('of which 9 of 10 failed, with %s: %#', (_, results, outcome) => {
    expect(judgeSuite(results, { policy: createPolicy() }).outcome).toBe(outcome);
  });

  it('never fail where nothing failed', () => {
    const cases = [createCaseResults({ id: 'a', passed: 0, planned: 0, isRequired: true })];
    expect(judgeSuite(createSuiteResults({ cases, isComplete: false }), { policy: createPolicy() }).outcome).toBe(
      'inconclusive',
    );
  });
});

describe('completeCases', () => {
  it('gives every missing iteration the same result', () => {
    const [best] = completeCases([createCaseResults({ passed: 1, failed: 1, unscored: 1, planned: 5 })], true);
    const [worst] = completeCases([createCaseResults({ passed: 1, failed: 1, unscored: 1, planned: 5 })], false);
    expect([best?.passed, best?.failed, best?.unscored]).toEqual([4, 1, 0]);
    expect([worst?.passed, worst?.failed, worst?.unscored]).toEqual([1, 4, 0]);
  });
});

describe('reasonRules', () => {
  it('let a pull request pass in spite of a reason only by a rule for that reason', () => {
    const byRule = Map.groupBy(Object.entries(reasonRules), ([, rule]) =>
      'rule' in rule ? (rule.rule ?? 'none') : rule.kind,
    );
    const list = (key: 'onInconclusive' | 'none') => (byRule.get(key) ?? []).map(([code]) => code).toSorted();
    expect(list('onInconclusive')).toEqual(['minimum-unsettled', 'only-probation']);
    expect(list('none')).toEqual(['cancelled', 'sandbox-unavailable']);
  });

  it('are those that docs/exit-codes.md lists', async () => {
    const page = await readFile(new URL('../../docs/exit-codes.md', import.meta.url), 'utf8');
    const rows = page.matchAll(/^\| `([a-z-]+)`: .*\| (`[a-zA-Z]+`|none) +\| (yes|no) +\|$/gm);
    const documented = Object.fromEntries([...rows].map(([, code = '', option, counts]) => [code, [option, counts]]));
    const expected = Object.entries(reasonRules).flatMap(([code, rule]) => {
      if (!('rule' in rule)) return [];
      const option = rule.rule === null ? 'none' : `\`${rule.rule}\``;
      return [[code, [option, rule.kind === 'open' || rule.areFailuresSound ? 'yes' : 'no']] as const];
    });
    expect(documented).toEqual(Object.fromEntries(expected));
    for (const [code, rule] of Object.entries(reasonRules)) {
      if (!('option' in rule)) expect(page).toContain(`\`${code}\``);
    }
  });
});
