import { describe, expect, it } from 'vitest';
import { assessSuite, judgeSuite } from '../../src/verdict/judge.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const broken = createCaseResults({ id: 'adds', title: 'Adds', passed: 0, failed: 3 });
const sound = createCaseResults({ id: 'asks', title: 'Asks' });
const results = createSuiteResults({ cases: [broken, sound] });

const judgeWith = (entry: Parameters<typeof createQuarantineEntry>[0], onStaleQuarantine?: 'fail') =>
  assessSuite(results, {
    policy: createPolicy({
      ...atLeast(1),
      quarantine: [createQuarantineEntry(entry)],
      ...(onStaleQuarantine === undefined ? {} : { onStaleQuarantine: ofPolicy(onStaleQuarantine) }),
    }),
  });

describe('quarantine', () => {
  it.each([{ case: 'adds' }, { expires: '2026-09-21' }])('takes a case out of the count: %j', (entry) => {
    const { verdict, quarantined } = judgeWith(entry);
    expect(verdict.outcome).toBe('passed');
    expect(verdict.reasons[0]?.message).toContain('3 of 3 iterations passed');
    expect(quarantined.map(({ caseId }) => caseId)).toEqual(['adds']);
  });

  it('ends after its last day, with a finding', () => {
    const { verdict, assessments, quarantined } = judgeWith({ expires: '2026-09-20' });
    expect(verdict.outcome).toBe('failed');
    expect(verdict.reasons.map(({ code }) => code)).toEqual(['below-minimum']);
    expect(quarantined).toEqual([]);
    expect(assessments.at(-1)).toMatchObject({
      kind: 'quarantine',
      state: 'not-met',
      isDecisive: false,
      finding:
        'The quarantine of "Adds" (from policy.yaml:9, @alice) ended on 2026-09-20, so that it counts again; mend the case or decide anew.',
    });
    expect(judgeWith({ expires: '2026-09-20' }, 'fail').verdict.reasons.map(({ code }) => code)).toEqual([
      'below-minimum',
      'quarantine-expired',
    ]);
  });

  it.each([
    [{ case: 'asks' }, 'The case "Asks" in quarantine (from policy.yaml:9, @alice) passes again; take the entry out.'],
    [{ case: 'subtracts' }, 'The case "subtracts" in quarantine (from policy.yaml:9) is gone; take the entry out.'],
  ])('is stale, which warns or fails: %j', (entry, finding) => {
    const quarantine = [createQuarantineEntry(entry)];
    const warned = assessSuite(results, { policy: createPolicy({ ...atLeast(0), quarantine }) });
    expect(warned.verdict.outcome).toBe('passed');
    expect(warned.assessments.at(-1)).toMatchObject({ state: 'not-met', isDecisive: false, finding });
    const policy = createPolicy({ ...atLeast(0), quarantine, onStaleQuarantine: ofPolicy('fail') });
    const { outcome, reasons } = judgeSuite(results, { policy });
    expect([outcome, reasons.map(({ code, message }) => [code, message])]).toEqual([
      'failed',
      [['quarantine-stale', finding]],
    ]);
  });

  it('also excludes a case without a result, and makes the suite inconclusive if no other case is left', () => {
    const cases = [createCaseResults({ id: 'adds', passed: 1, unscored: 2 }), sound];
    const policy = createPolicy({ quarantine: [createQuarantineEntry()] });
    expect(judgeSuite(createSuiteResults({ cases }), { policy }).outcome).toBe('passed');
    expect(judgeSuite(createSuiteResults({ cases }), { policy: createPolicy() }).outcome).toBe('inconclusive');
    expect(judgeSuite(createSuiteResults({ cases: [broken] }), { policy }).reasons).toEqual([
      {
        code: 'no-iterations',
        message: 'No iteration of a case that counts was scored, so nothing was shown.',
        suiteId: 'math',
      },
    ]);
  });

  it('does not hide a missing iteration of another case', () => {
    const cases = [{ ...broken, planned: 5 }, sound];
    const policy = createPolicy({ quarantine: [createQuarantineEntry()] });
    expect(judgeSuite(createSuiteResults({ cases }), { policy }).outcome).toBe('inconclusive');
  });
});
