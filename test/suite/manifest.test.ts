import { expect, it } from 'vitest';
import { outlineSuite } from '../../src/suite/manifest.ts';
import { createSuite, createSuiteCase } from '../support/factories/suite-factory.ts';

it('outlineSuite takes from a file what counting its results needs', () => {
  const item = createSuiteCase({ tags: ['smoke'], isRequired: true, runs: 3 });
  const { location } = item;
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
        location,
        definitionHash: expect.stringMatching(/^[0-9a-f]{16}$/),
        runs: 3,
      },
    ],
    leftOut: ['echoes'],
  });
});
