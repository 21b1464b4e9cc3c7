import { describe, expect, it } from 'vitest';
import { renderIssueSummary } from '../../src/report/issue-summary.ts';

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
      - \`evals/a.yaml:2:1\`: There is no key \`\` \`chekcs\` \`\`
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
