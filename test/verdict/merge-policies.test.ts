import { describe, expect, it } from 'vitest';
import { emptyPolicyLayer, mergeLayers, noGateRules, type PolicyFile } from '../../src/model/policy.ts';
import { listSuiteLayers } from '../../src/verdict/merge-policies.ts';
import { createQuarantineEntry } from '../support/factories/policy-factory.ts';

const at = <T>(value: T, source: string) => ({ value, source });
const named = (name: string, value: number, source: string) => ({ name, value, source });

describe('mergeLayers', () => {
  it("uses the first layer's value of each key, and joins required and quarantined cases", () => {
    const joined = mergeLayers([
      {
        ...emptyPolicyLayer,
        confidence: at(0.9, 'input'),
        tags: [named('smoke', 1, 'input')],
        models: [named('a/b', 0.7, 'input')],
        poolModels: at(false, 'input'),
        required: [{ name: 'a', value: true, source: 'input' }],
        budgets: { ...emptyPolicyLayer.budgets, tokens: at(10, 'input') },
        quarantine: [createQuarantineEntry({ case: 'a', source: 'input' })],
      },
      {
        ...emptyPolicyLayer,
        minimumPassRate: at(0.8, 'file'),
        confidence: at(0.99, 'file'),
        tags: [named('smoke', 0.5, 'file'), named('slow', 0.5, 'file')],
        models: [named('a/b', 0.9, 'file'), named('c/d', 0.9, 'file')],
        poolModels: at(true, 'file'),
        maximumRecordingAgeMs: at(9, 'file'),
        minimumJudgeAgreement: at(0.7, 'file'),
        required: [{ name: 'b', value: true, source: 'file' }],
        budgets: {
          ...emptyPolicyLayer.budgets,
          tokens: at(20, 'file'),
          cost: at(2, 'file'),
          wallTimeMs: at(5, 'file'),
        },
        quarantine: [createQuarantineEntry({ case: 'a', source: 'file' }), createQuarantineEntry({ case: 'b' })],
      },
    ]);
    expect(joined).toMatchObject({
      minimumPassRate: at(0.8, 'file'),
      confidence: at(0.9, 'input'),
      required: [{ name: 'a' }, { name: 'b' }],
      poolModels: at(false, 'input'),
      maximumRecordingAgeMs: at(9, 'file'),
      minimumJudgeAgreement: at(0.7, 'file'),
      maximumCalibrationAgeMs: null,
      budgets: { tokens: at(10, 'input'), cost: at(2, 'file'), wallTimeMs: at(5, 'file'), p95IterationMs: null },
    });
    expect(joined.tags).toEqual([named('smoke', 1, 'input'), named('slow', 0.5, 'file')]);
    expect(joined.models).toEqual([named('a/b', 0.7, 'input'), named('c/d', 0.9, 'file')]);
    expect(joined.quarantine.map((entry) => [entry.case, entry.source])).toEqual([
      ['a', 'input'],
      ['b', 'policy.yaml:9'],
    ]);
  });

  it('has no rules if no layer has one', () => {
    expect(mergeLayers([emptyPolicyLayer, emptyPolicyLayer])).toEqual(emptyPolicyLayer);
  });
});

describe('listSuiteLayers', () => {
  const file: PolicyFile = {
    file: 'policy.yaml',
    gate: noGateRules,
    common: { ...emptyPolicyLayer, minimumPassRate: at(0.9, 'common') },
    quarantine: [
      { suite: 'Math server', ...createQuarantineEntry() },
      { suite: 'other', ...createQuarantineEntry({ case: 'asks' }) },
    ],
    protect: null,
    suites: [
      { name: 'math', layer: { ...emptyPolicyLayer, minimumPassRate: at(0.8, 'math') } },
      { name: 'other', layer: { ...emptyPolicyLayer, minimumPassRate: at(0.1, 'other') } },
    ],
  };

  it('lists rules of a suite, by id or name, before those of all suites', () => {
    const layers = listSuiteLayers(file, { id: 'math', name: 'Math server' });
    expect(layers.map(({ minimumPassRate }) => minimumPassRate?.source)).toEqual(['math', 'common']);
    expect(layers.at(-1)?.quarantine).toEqual([createQuarantineEntry()]);
  });
});
