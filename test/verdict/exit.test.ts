import { describe, expect, it } from 'vitest';
import type { InconclusiveEffect } from '../../src/model/policy.ts';
import type { VerdictOutcome } from '../../src/model/verdict.ts';
import { decideExit } from '../../src/verdict/exit.ts';
import { createPolicy, demanded } from '../support/policy-factory.ts';

const suite = (outcome: VerdictOutcome, effect: InconclusiveEffect = 'fail', isReportOnly = false) => ({
  name: 'Math',
  outcome,
  demands: createPolicy({ onInconclusive: demanded(effect), reportOnly: demanded(isReportOnly) }).demands,
});

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

  it('says why the job goes on, and warns where it is asked to', () => {
    expect(decideExit([suite('failed', 'fail', true), suite('inconclusive', 'warn')])).toEqual({
      exitCode: 0,
      notes: [
        'Math failed and is only reported (report-only, from policy.yaml:3), so that the job goes on.',
        'Math is inconclusive, which does not stop the job (on-inconclusive: warn, from policy.yaml:3).',
      ],
      warnings: ['Math is inconclusive, which does not stop the job (on-inconclusive: warn, from policy.yaml:3).'],
    });
    expect(decideExit([suite('inconclusive', 'pass')]).warnings).toEqual([]);
  });
});
