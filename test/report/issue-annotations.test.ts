import { describe, expect, it } from 'vitest';
import { planIssueAnnotations } from '../../src/report/issue-annotations.ts';

const inFile = { code: 'unknown-key', message: 'Unknown key `a`', file: 'evals/a.evals.yaml', line: 3, column: 5 };

describe('planIssueAnnotations', () => {
  it('places a finding in its file, and names the input of one without', () => {
    const input = { code: 'bad-runs', message: '"0" is too few', input: 'runs' };
    expect(planIssueAnnotations([inFile, input])).toEqual([
      {
        level: 'error',
        title: 'Evals file (unknown-key)',
        message: 'Unknown key `a`',
        file: 'evals/a.evals.yaml',
        startLine: 3,
      },
      { level: 'error', title: 'Input runs (bad-runs)', message: '"0" is too few' },
    ]);
  });

  it.each(['../a.yaml', '/etc/a.yaml'])('names %s in the title, since it is in no diff', (file) => {
    expect(planIssueAnnotations([{ ...inFile, file }])).toEqual([
      { level: 'error', title: `${file}:3 (unknown-key)`, message: 'Unknown key `a`' },
    ]);
  });

  it('names a location in the title that is no file, such as tests written in place', () => {
    const [annotation] = planIssueAnnotations([{ ...inFile, file: 'tests' }], { fileExists: () => false });
    expect(annotation).toEqual({ level: 'error', title: 'tests:3 (unknown-key)', message: 'Unknown key `a`' });
  });

  it('stays within ten, and counts the rest', () => {
    const count = (issues: number) => planIssueAnnotations(Array.from({ length: issues }, () => inFile));
    expect(count(10)).toHaveLength(10);
    expect(count(10).at(-1)?.file).toBe('evals/a.evals.yaml');
    expect(count(12)).toHaveLength(10);
    expect(count(12).at(-1)).toEqual({ level: 'error', title: '+3 more problems', message: 'The log lists them all.' });
  });

  it('cuts a message that the runner would cut', () => {
    const [annotation] = planIssueAnnotations([{ ...inFile, message: 'x'.repeat(9000) }]);
    expect(annotation?.message.length).toBeLessThanOrEqual(4096);
  });
});
