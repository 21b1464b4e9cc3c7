import { describe, expect, it } from 'vitest';
import type { InconclusiveEffect } from '../../src/model/policy.ts';
import type { ReasonCode, VerdictOutcome } from '../../src/model/verdict.ts';
import { decideExit } from '../../src/verdict/exit.ts';
import { createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';

const suite = (outcome: VerdictOutcome, effect: InconclusiveEffect = 'fail', isReportOnly = false) =>
  suiteFor(
    outcome,
    [outcome === 'inconclusive' ? 'minimum-unsettled' : 'below-minimum'],
    createPolicy({ onInconclusive: ofPolicy(effect), reportOnly: ofPolicy(isReportOnly) }).requirements,
  );

function suiteFor(
  outcome: VerdictOutcome,
  codes: readonly ReasonCode[],
  requirements = createPolicy({ onNothingRun: ofPolicy('warn') }).requirements,
) {
  return { name: 'Math', verdict: { outcome, reasons: codes.map((code) => ({ code, message: code })) }, requirements };
}

describe('decideExit', () => {
  it.each([
    [[], 3],
    [[suite('passed')], 0],
    [[suite('failed'), suite('inconclusive')], 1],
    [[suite('passed'), suite('inconclusive')], 3],
    [[suite('inconclusive', 'pass')], 0],
    [[suite('inconclusive', 'warn')], 0],
    [[suite('inconclusive', 'fail', true)], 3],
    [[suite('failed', 'pass')], 1],
    [[suite('failed', 'fail', true)], 0],
    [[suite('failed', 'fail', true), suite('inconclusive')], 3],
    [[suite('failed', 'fail', true), suite('failed')], 1],
  ])('%# ends with %i', (suites, exitCode) => {
    expect(decideExit(suites).exitCode).toBe(exitCode);
  });

  it('says why the job succeeds, and warns if the policy says so', () => {
    expect(decideExit([suite('failed', 'fail', true), suite('inconclusive', 'warn')])).toEqual({
      exitCode: 0,
      notes: [
        'Math failed and is only reported (reportOnly, from policy.yaml:3), so that the job goes on.',
        'Math is inconclusive; the job goes on all the same (onInconclusive: warn, from policy.yaml:3).',
      ],
      warnings: ['Math is inconclusive; the job goes on all the same (onInconclusive: warn, from policy.yaml:3).'],
    });
    expect(decideExit([suite('inconclusive', 'pass')]).warnings).toEqual([]);
  });

  it.each<[ReasonCode[], 0 | 3]>([
    [['server-lost'], 0],
    [['run-not-created'], 0],
    [['tunnel-lost', 'below-minimum'], 0],
    [['deadline', 'iterations-missing'], 0],
    [['minimum-unsettled'], 3],
    [['only-probation'], 3],
    [['server-lost', 'minimum-unsettled'], 3],
    [['cancelled'], 3],
    [['cancelled', 'results-unknown'], 3],
    [['below-minimum'], 3],
    [[], 3],
  ])('with onNothingRun: warn, an inconclusive suite for %j ends with %i', (codes, exitCode) => {
    const decision = decideExit([suiteFor('inconclusive', codes)]);
    expect(decision.exitCode).toBe(exitCode);
    expect(decision.warnings).toHaveLength(exitCode === 0 ? 1 : 0);
  });

  it.each<[ReasonCode[], 0 | 3]>([
    [['minimum-unsettled'], 0],
    [['only-probation'], 0],
    [['minimum-unsettled', 'requirement-unjudged'], 3],
    [['server-lost'], 3],
    [['results-unknown'], 3],
    [['results-inconsistent'], 3],
    [['no-iterations'], 3],
  ])('with onInconclusive: pass, an inconclusive suite for %j ends with %i', (codes, exitCode) => {
    const { requirements } = createPolicy({ onInconclusive: ofPolicy('pass') });
    expect(decideExit([suiteFor('inconclusive', codes, requirements)]).exitCode).toBe(exitCode);
  });

  it('needs both options where both reasons are there, and says which let it pass', () => {
    const { requirements } = createPolicy({ onInconclusive: ofPolicy('pass'), onNothingRun: ofPolicy('warn') });
    expect(decideExit([suiteFor('inconclusive', ['minimum-unsettled', 'requirement-unjudged'], requirements)])).toEqual(
      {
        exitCode: 0,
        notes: [
          'Math has no verdict, because results are missing; the job goes on all the same (onInconclusive: pass, from policy.yaml:3; onNothingRun: warn, from policy.yaml:3).',
        ],
        warnings: [
          'Math has no verdict, because results are missing; the job goes on all the same (onInconclusive: pass, from policy.yaml:3; onNothingRun: warn, from policy.yaml:3).',
        ],
      },
    );
  });
});
