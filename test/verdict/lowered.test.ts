import { describe, expect, it } from 'vitest';
import { emptyPolicyLayer, listLowered, type PolicyLayer } from '../../src/model/policy.ts';

import { atLeast, ofPolicy } from '../support/factories/policy-factory.ts';

const day = 24 * 3_600_000;
const model = (minimum: number) => ({ models: [{ name: 'a/b', ...ofPolicy(minimum) }] });
const budget = (budgets: Partial<PolicyLayer['budgets']>) => ({ budgets: { ...emptyPolicyLayer.budgets, ...budgets } });

const compare = (before: Partial<PolicyLayer>, after: Partial<PolicyLayer>) =>
  listLowered({ ...emptyPolicyLayer, ...before }, { ...emptyPolicyLayer, ...after }).map(
    ({ what, before: was, after: is }) => `${what}: ${was} -> ${is}`,
  );

describe('what a policy requires less of models', () => {
  it.each<[string, Partial<PolicyLayer>, Partial<PolicyLayer>, string]>([
    ['lowers the minimum of a model', model(0.9), model(0.8), 'the minimum of the model "a/b": 90% -> 80%'],
    [
      'removes the minimum of a model above that of the suite',
      { ...atLeast(0.8), ...model(0.9) },
      atLeast(0.8),
      'the minimum of the model "a/b": 90% -> 80%',
    ],
    [
      'gives a model a minimum below that of the suite',
      atLeast(0.9),
      { ...atLeast(0.9), ...model(0.5) },
      'the minimum of the model "a/b": 90% -> 50%',
    ],
    ['pools the models', {}, { poolModels: ofPolicy(true) }, '`poolModels`: false -> true'],
    [
      'asks about these cases instead of tasks',
      {},
      { confidenceOver: ofPolicy('cases') },
      '`confidenceOver`: tasks -> cases',
    ],
    [
      'shares the error of failing between all minimums of the gate',
      {},
      { confidenceFamily: ofPolicy('gate') },
      '`confidenceFamily`: minimum -> gate',
    ],
    [
      'accepts older recordings',
      {},
      { maximumRecordingAgeMs: ofPolicy(60 * day) },
      '`recordings.maximumAge`: 30d -> 60d',
    ],
    [
      'accepts judges that agree less with people',
      { minimumJudgeAgreement: ofPolicy(0.7) },
      {},
      '`judges.minimumAgreement`: 0.7 -> 0.6',
    ],
    [
      'accepts older calibrations',
      {},
      { maximumCalibrationAgeMs: ofPolicy(91 * day) },
      '`judges.maximumAge`: 90d -> 91d',
    ],
    [
      'raises the default number of model calls',
      {},
      budget({ modelCalls: ofPolicy(301) }),
      'the budget `modelCalls`: 300 -> 301',
    ],
    ['removes the budget of cost', budget({ cost: ofPolicy(0.5) }), {}, 'the budget `cost`: 0.5 -> none'],
  ])('is found where a change %s', (_, before, after, found) => {
    expect(compare(before, after)).toEqual([found]);
  });

  it.each<[string, Partial<PolicyLayer>, Partial<PolicyLayer>]>([
    ['gives a model a minimum above that of the suite', atLeast(0.8), { ...atLeast(0.8), ...model(0.9) }],
    ['removes the minimum of a model below that of the suite', { ...atLeast(0.9), ...model(0.5) }, atLeast(0.9)],
    ['takes the models apart', { poolModels: ofPolicy(true) }, {}],
    ['accepts only younger recordings', {}, { maximumRecordingAgeMs: ofPolicy(7 * day) }],
    ['wants judges that agree more with people', {}, { minimumJudgeAgreement: ofPolicy(0.8) }],
    ['accepts only younger calibrations', {}, { maximumCalibrationAgeMs: ofPolicy(30 * day) }],
    ['allows fewer model calls', {}, budget({ modelCalls: ofPolicy(10) })],
    ['removes a budget that was above the default', budget({ modelCalls: ofPolicy(500) }), {}],
    ['sets a budget of cost', {}, budget({ cost: ofPolicy(2) })],
  ])('is nothing where a change %s', (_, before, after) => {
    expect(compare(before, after)).toEqual([]);
  });
});
