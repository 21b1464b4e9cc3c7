import { describe, expect, it } from 'vitest';
import { adaptLayers, createBar, listWeakenings, type SuiteBar } from '../../../src/gate/plan/weakenings.ts';
import { emptyPolicyLayer } from '../../../src/model/policy.ts';
import { createSuite, createSuiteCase } from '../../support/factories/suite-factory.ts';

const models = [{ name: 'a/b', value: 0.8, source: 'main:policy.yaml:3' }];

function createModelBar(...used: string[]): SuiteBar {
  const cases = used.map((model, index) => createSuiteCase({ id: `asks-${index}`, model }));
  const [bar] = createBar([{ ...createSuite(cases), policy: { ...emptyPolicyLayer, models } }], null);
  if (bar === undefined) throw new Error('There is a bar for every suite.');
  return bar;
}

const list = (before: SuiteBar, after: SuiteBar) =>
  listWeakenings([before], [after], { base: 'main', noun: 'pull request' });

describe('a change of the models of a suite', () => {
  it('lowers a requirement where no case uses the model any more', () => {
    expect(list(createModelBar('a/b', 'c/d'), createModelBar('c/d', 'c/d'))).toEqual([
      {
        protection: 'minima',
        code: 'requirement-lowered',
        key: 'model math a/b',
        message:
          'No case of evals/math.evals.yaml uses the model "a/b" in this pull request, of which main requires a pass rate (main:policy.yaml:3).',
        remedy: 'Restore the model',
        suiteId: 'math',
      },
    ]);
  });

  it('lowers nothing where a case uses the model, or none did before', () => {
    expect(list(createModelBar('a/b', 'c/d'), createModelBar('a/b', 'a/b'))).toEqual([]);
    expect(list(createModelBar('c/d', 'c/d'), createModelBar('c/d', 'c/d'))).toEqual([]);
  });

  it('leaves the rule of the model that is gone out of what the change is judged by', () => {
    const rulesFor = (after: SuiteBar) => adaptLayers(createModelBar('a/b'), after.suite, []).ownLayer.models;
    expect(rulesFor(createModelBar('c/d'))).toEqual([]);
    expect(rulesFor(createModelBar('a/b'))).toEqual(models);
  });
});
