import { planIssueAnnotations, renderIssueSummary } from '../../src/report/configuration-issues.ts';
import { describe, expect, it } from 'vitest';

const issue = { input: 'runs', code: 'bad-runs', message: '"many" is not a number of runs' };

describe('renderIssueSummary', () => {
  it('names the location of each problem and what is wrong', () => {
    const inFile = {
      file: 'evals/a.yaml',
      line: 2,
      column: 1,
      code: 'unknown-key',
      message: 'There is no key `chekcs`',
    };
    const nowhere = { code: 'x', message: 'Something else is wrong' };
    expect(renderIssueSummary([issue, inFile, nowhere])).toMatchInlineSnapshot(`
      "## ⚠️ Eval gate not run

      The configuration has 3 problems. The gate started nothing and ends with exit code 2.

      - \`runs\`: "many" is not a number of runs
      - \`evals/a.yaml:2:1\`: There is no key \`chekcs\`
      - Something else is wrong
      "
    `);
  });

  it('keeps text of files from being read as Markdown or HTML', () => {
    const message = 'a\n## Passed <img src=x> [ok](https://x.example) @octocat';
    const [, , line = ''] = renderIssueSummary([{ ...issue, file: '`|\n# x', message }]).split('\n\n');
    expect(line).toMatchInlineSnapshot(`
      "- \`\` \`| # x \`\`: a \`##\` Passed \`<img src=x> [ok](https://x.example) @octocat\`
      "
    `);
  });

  it('lists a hundred problems and counts the rest', () => {
    const text = renderIssueSummary(Array.from({ length: 102 }, () => issue));
    expect(text.split('\n').filter((line) => line.startsWith('- '))).toHaveLength(101);
    expect(text).toContain('- 2 more problems. The log lists them all.');
  });
});

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
