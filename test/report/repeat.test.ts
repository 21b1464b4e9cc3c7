import { describe, expect, it } from 'vitest';
import { createRepeats, describeInspection } from '../../src/report/repeat.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';

const repeat = 'npx mcp-eval-ci run --server-command "node a.js"';
const failures = [createFailure({ reasons: ['It is wrong.'] })];

const describeOnly = (testCase: { id?: string; title?: string }, file: string | null = 'evals/a.yaml') => {
  const cases = [createCaseResults({ id: 'sum', title: 'Adds two numbers', failed: 1, failures, ...testCase })];
  const report = createReport({ suites: [createSuiteResults({ cases, file })], repeat });
  const [first] = report.cases;
  return first === undefined ? null : createRepeats(report)(first);
};

describe('the command that runs a case again', () => {
  it('names the file and the title', () => {
    expect(describeOnly({})).toBe(`${repeat} --evals evals/a.yaml --cases "Adds two numbers"`);
    expect(describeOnly({}, null)).toBe(`${repeat} --cases "Adds two numbers"`);
    expect(describeOnly({ title: "Says 'it's $5'" })).toBe(
      String.raw`${repeat} --evals evals/a.yaml --cases 'Says '\''it'\''s $5'\'''`,
    );
  });

  it.each(['a, b', 'a*', ' a', '--a', 'a\u202Eb', 'a\nb', ''])(
    'names the id where the title %j selects otherwise',
    (title) => {
      expect(describeOnly({ title })).toBe(`${repeat} --evals evals/a.yaml --cases sum`);
    },
  );

  it.each([
    ['an id that selects otherwise', { id: 'a,b', title: 'a, b' }, 'evals/a.yaml'],
    ['evals without a file', {}, 'tests'],
    ['a file whose name is a pattern', {}, 'evals/[a].yaml'],
  ])('is missing with %s', (_what, testCase, file) => {
    expect(describeOnly(testCase, file)).toBeNull();
  });

  it('names the id where two cases have the title', () => {
    const cases = ['a', 'b'].map((id) => createCaseResults({ id, title: 'Same', failed: 1, failures }));
    const report = createReport({ suites: [createSuiteResults({ cases, file: 'a.yaml' })], repeat });
    const command = createRepeats(report);
    expect(report.cases.map((testCase) => command(testCase))).toEqual(
      ['a', 'b'].map((id) => `${repeat} --evals a.yaml --cases ${id}`),
    );
  });

  it('ends each failed case, on one line however narrow the terminal is', () => {
    const cases = [
      createCaseResults({ id: 'sum', title: 'Adds two numbers', failed: 1, failures }),
      createCaseResults({ id: 'ok', title: 'Works' }),
    ];
    const suites = [createSuiteResults({ cases, file: 'evals/a.yaml' })];
    const report = createReport({ suites, repeat });
    const command = `${repeat} --evals evals/a.yaml --cases "Adds two numbers"`;
    const lines = renderTerminal(report, { color: false, columns: 40 }).split('\n');
    expect(lines.filter((line) => line.includes('npx'))).toEqual([`      Run it again: ${command}`]);
    for (const text of [renderSummary(report), renderComment(report, { job: 'x', run: null, linkLine: () => null })]) {
      expect(text.split(`\`${command}\``)).toHaveLength(2);
    }
    expect(renderSummary(createReport({ suites }))).not.toContain('Run it again');
  });

  it('is below the verdict, too, where the cases are not on the first screen: for all that failed, or for the worst', () => {
    const fail = (id: string) => createCaseResults({ id, title: id, failed: 1, failures });
    const render = (...files: string[][]) => {
      const suites = files.map((ids, index) =>
        createSuiteResults({
          suiteId: `s${index}`,
          file: `${index}.yaml`,
          cases: [...ids.map(fail), createCaseResults({ id: 'ok' })],
        }),
      );
      const report = createReport({ suites, repeat });
      return { summary: renderSummary(report).split('###')[0], html: renderHtml(report) };
    };
    const two = render(['a'], ['b']);
    const command = `${repeat} --evals 0.yaml --evals 1.yaml --cases a,b`;
    expect(two.summary).toContain(`**Run them again:** \`${command}\``);
    expect(two.html).toContain(
      `<h2>Run them again</h2>\n<code id="repeat">${command.replaceAll('"', '&quot;')}</code>`,
    );
    expect(render(['a'], ['a']).summary).toContain('--evals 1.yaml --cases a`');
    expect(render(['a', 'b', 'c', 'd', 'e', 'f']).summary).toContain('**Run the first 5 cases again:**');
    expect(render(['a', 'b,*']).summary).not.toContain('again');
    expect(render([]).html).not.toContain('id="repeat"');
  });
});

describe('the command that inspects a case', () => {
  const inspection = 'npx mcp-inspector --cli node a.js';
  const inspect = (...actualToolCalls: Array<{ toolName: string; arguments: Record<string, unknown> }>) =>
    describeInspection({ failures: [createFailure({ actualToolCalls })] }, { inspection });

  it('makes its first call, or lists the tools', () => {
    expect(inspect({ toolName: 'add', arguments: { a: 2, note: { text: "it's" }, unit: 'two words' } })).toBe(
      `${inspection} --method tools/call --tool-name add --tool-arg a=2 --tool-arg 'note={"text":"it'\\''s"}' --tool-arg "unit=two words"`,
    );
    expect(inspect()).toBe(`${inspection} --method tools/list`);
    expect(describeInspection({ failures: [] }, {})).toBeNull();
  });

  it.each([{ a: 'x\ny' }, { a: 'x\u202Ey' }, { '-a': 1 }, { a: 'x'.repeat(2000) }])(
    'is missing for the arguments %j',
    (values) => {
      expect(inspect({ toolName: 'add', arguments: values })).toBeNull();
    },
  );

  it('is below the command that runs the case again', () => {
    const failed = createCaseResults({ id: 'sum', title: 'Adds', failed: 1, failures });
    const report = createReport({ suites: [createSuiteResults({ cases: [failed], file: 'a.yaml' })], repeat });
    expect(renderTerminal({ ...report, inspection }, { color: false, columns: 40 })).toMatch(
      /Run it again: .*\n *Inspect it: npx mcp-inspector --cli node a\.js --method /,
    );
    expect(renderSummary({ ...report, inspection })).toContain(
      'Inspect it: `npx mcp-inspector --cli node a.js --method ',
    );
    expect(renderSummary(report)).not.toContain('Inspect it');
  });
});
