import { expect, it } from 'vitest';
import { outlineSuite } from '../../src/suite/manifest.ts';
import { createSuite, createSuiteCase } from '../support/factories/suite-factory.ts';

const location = { file: 'evals/math.evals.yaml', line: 9, column: 9 };

it('outlineSuite takes from a file what counting its results needs', () => {
  const item = createSuiteCase({ tags: ['smoke'], isRequired: true, runs: 3 });
  const whole = createSuite([createSuiteCase({ id: 'echoes' }), item]);
  expect(outlineSuite(createSuite([item]), whole)).toEqual({
    id: 'math',
    name: 'Math server',
    file: 'evals/math.evals.yaml',
    cases: [
      {
        id: 'adds',
        title: 'Adds two numbers',
        tags: ['smoke'],
        isRequired: true,
        model: null,
        location: item.location,
        definitionHash: expect.stringMatching(/^[0-9a-f]{16}$/),
        runs: 3,
      },
    ],
    leftOut: ['echoes'],
  });
});

it('outlineSuite names the model of a case only where a prompt needs one', () => {
  const [call] = createSuiteCase().steps;
  const prompt = { step: { id: 'ask', kind: 'prompt' as const, prompt: 'Add 2 and 3.' }, location };
  const steps = [...(call === undefined ? [] : [call]), prompt];
  const suite = createSuite([
    createSuiteCase({ id: 'asks', model: 'a/b', steps }),
    createSuiteCase({ id: 'adds', model: 'a/b' }),
  ]);
  expect(outlineSuite(suite, suite).cases.map(({ id, model }) => [id, model])).toEqual([
    ['asks', 'a/b'],
    ['adds', null],
  ]);
});
