import { describe, expect, it } from 'vitest';
import { isAdvisory } from '../../src/checks/assertion.ts';
import { compileSuite } from '../../src/suite/compile.ts';
import { contract, type Dialect } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';

const evals = `suite: Cities
judgeModel: openai/gpt-5-mini
checks:
  - { judge: The answer is polite., role: gating }
cases:
  - title: Names the city
    steps:
      - toolCall: lookup
      - assert: { judge: The answer names Paris., model: anthropic/claude-haiku-4.5, threshold: 0.7 }
  - title: Has its own checks
    checks:
      mode: replace
      list:
        - { type: judge, rubric: The answer is short. }
    steps:
      - toolCall: lookup
`;

function read(text: string) {
  return readSuite(text, { file: 'a.evals.yaml' });
}

describe('judges of an evals file', () => {
  it('have the model of the suite unless they name one, and their own location', () => {
    const { suite, findings } = read(evals);
    expect(findings).toEqual([]);
    const judges = suite?.cases.map((item) =>
      item.judges.map(({ judge, location }) => [location.line, judge.model, isAdvisory(judge)]),
    );
    expect(judges).toEqual([
      [
        [4, 'openai/gpt-5-mini', false],
        [9, 'anthropic/claude-haiku-4.5', true],
      ],
      [[14, 'openai/gpt-5-mini', true]],
    ]);
  });

  it('without a model are findings at their line', () => {
    const { findings } = read(evals.replace('judgeModel: openai/gpt-5-mini\n', ''));
    expect(findings.map(({ line, code }) => [line, code])).toEqual([
      [3, 'missing-judge-model'],
      [13, 'missing-judge-model'],
    ]);
  });

  it('are refused under `not`, and with `severity` where they gate', () => {
    const wrapped = read(evals.replace('judge: The answer is polite.', 'not: { judge: The answer is rude. }'));
    expect(wrapped.findings).toMatchObject([{ line: 4, code: 'bad-negation' }]);
    const severe = read(evals.replace('role: gating', 'role: gating, severity: warn'));
    expect(severe.findings).toMatchObject([{ line: 4, code: 'bad-role' }]);
    expect(read(evals.replace('role: gating', 'severity: warn')).findings).toEqual([]);
  });

  it('are sent to the service in this process only', () => {
    const { suite } = read(evals);
    const compile = (dialect: Dialect) => JSON.stringify(suite === null ? null : compileSuite(suite, { dialect }));
    expect(compile('embedded')).toContain('"judge"');
    expect(compile(contract)).not.toContain('"judge"');
  });
});
