import { describe, expect, it } from 'vitest';
import { renderComment } from '../../src/report/comment.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { composeModels, listMatrixRows, describeTokens, listSpending } from '../../src/report/document/models.ts';
import { noModelUsage } from '../../src/model/usage.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import {
  createModelsEvidence,
  createModelsReport,
  createUsage,
  largeModel,
  smallModel,
  staleReason,
} from '../support/factories/models-factory.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';

const reportOn = (...cases: Array<Parameters<typeof createCaseResults>[0]>) =>
  createReport({
    suites: [
      createSuiteResults({
        cases: cases.map((testCase, index) => createCaseResults({ id: `c${index}`, ...testCase })),
      }),
    ],
  });
const spendingOf = ({ models }: ReturnType<typeof createReport>) => (models === null ? [] : listSpending(models));

describe('the part of a report about models', () => {
  it('is left out where no model took part', () => {
    expect(composeModels(createReport())).toEqual([]);
    expect(renderTerminal(createReport(), { color: false })).not.toContain('Models');
  });

  it('names the tokens that were written to a cache, if there are any', () => {
    const usage = { ...noModelUsage, modelCalls: 2, inputTokens: 900, cachedInputTokens: 300, outputTokens: 20 };
    expect(describeTokens(usage)).toBe('900 in (300 cached), 20 out');
    expect(describeTokens({ ...usage, cacheWriteTokens: 200 })).toBe(
      '900 in (300 cached, 200 written to the cache), 20 out',
    );
  });

  it('says what is not known of the cost, and what to do about it', () => {
    const report = createModelsReport({ prices: [] });
    expect(spendingOf(report)).toEqual([
      'In all: calls 27 live, 13 recorded; tokens 36000 in (10000 cached), 2700 out.',
      'Recorded answers cost nothing.',
      `The cost is not known: no price for "${smallModel}"; add it to \`prices\`; no price for "${largeModel}"; add it to \`prices\`.`,
    ]);
  });

  it('says that recordings alone answered, and that they cost nothing', () => {
    const replayed = { passed: 3, total: 3 };
    const report = reportOn({ model: smallModel, usage: createUsage({ replayedCalls: 6 }), replayed });
    expect(spendingOf(report)).toEqual([
      'In all: calls 6 recorded; tokens none; cost 0.00 USD.',
      'Recorded answers cost nothing.',
    ]);
    expect(renderSummary(report)).not.toContain('95% range');
  });

  it('says of how many calls the tokens are not known', () => {
    const usage = createUsage({ modelCalls: 2, inputTokens: 10, unmeasuredCalls: 1 });
    expect(spendingOf(reportOn({ model: smallModel, usage }))[0]).toBe(
      'In all: calls 2 live; tokens 10 in, 0 out, 1 call not measured.',
    );
  });

  it('has counts and no rates while the verdict is inconclusive', () => {
    const usage = createUsage({ modelCalls: 3 });
    const summary = renderSummary(reportOn({ model: smallModel, usage, passed: 2, unscored: 1 }));
    expect(summary).toContain('| Passed | 2 of 2 |');
    expect(summary).not.toContain('95% range');
  });

  it('has a row for each case of the file that runs with several models', () => {
    expect(
      listMatrixRows(createModelsReport()).map(({ title, cells }) => [title, ...cells.map((cell) => cell?.model)]),
    ).toEqual([
      ['Reads the note it was asked about', smallModel, largeModel],
      ['Finds a note by its text', smallModel, largeModel],
    ]);
    const apart = reportOn({ title: 'Asks', model: smallModel }, { title: 'Reads', model: largeModel });
    expect(listMatrixRows(apart)).toEqual([]);
  });

  it('keeps to a few columns and rows, and says how many more there are', () => {
    const cases = Array.from({ length: 120 }, (_, index) => ({
      title: `Asks ${index % 12} (a/${Math.floor(index / 12)})`,
      model: `a/${Math.floor(index / 12)}`,
    }));
    const comment = renderComment(reportOn(...cases));
    const [table = '', ...rest] = comment.slice(comment.indexOf('| |')).split('\n\n');
    expect(table.split('\n')[0]?.match(/a\/\d/g)).toHaveLength(8);
    expect(table.match(/^\| `Asks/gm)).toHaveLength(10);
    expect(rest.slice(0, 2)).toEqual(['2 more cases; the report lists them.', '2 more models; the report lists them.']);
  });
});

describe('a stale recording', () => {
  const failure = createFailure({ result: 'unscored', step: null, reasons: [staleReason], actualToolCalls: [] });
  const report = reportOn({ model: smallModel, passed: 2, unscored: 1, failures: [failure] });

  it('is why the verdict is inconclusive, with what to do', () => {
    expect(report.verdict).toEqual({
      outcome: 'inconclusive',
      reasons: [
        {
          code: 'results-unknown',
          message:
            '1 iteration ended without a result. The recording of call 2 of iteration 5 is stale. Re-record with `mcp-eval-ci record`.',
          suiteId: 'math',
        },
      ],
    });
  });

  it('shows each difference on a line of its own, below what to do', () => {
    const [first, second, third] = staleReason.split('\n');
    expect(renderTerminal(report, { color: false, columns: 200 })).toContain(
      `        ${first}\n        ${second}\n        ${third}\n`,
    );
    expect(renderSummary(report)).toContain(`- \`${second}\`\n- \`${third}\``);
  });

  it('says what to do although the differences are too long to be shown', () => {
    const reason = `The recording is stale. ${'The prompt changed. '.repeat(100)}Re-record with \`mcp-eval-ci record\`.`;
    const long = reportOn({ unscored: 1, failures: [{ ...failure, reasons: [reason] }] });
    for (const text of [
      renderSummary(long),
      renderComment(long),
      renderTerminal(long, { color: false, columns: 5000 }),
    ]) {
      expect(text.match(/mcp-eval-ci record/g)?.length).toBeGreaterThan(1);
    }
  });
});

describe('the page', () => {
  it('knows of each iteration whether a recording answered', () => {
    const report = createModelsReport();
    const html = renderHtml(report, { evidence: createModelsEvidence(report) });
    const data: unknown = JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
    expect(data).toMatchObject({
      marks: report.cases.map(({ model, planned, replayed }) =>
        Array.from({ length: planned }, (_, index) => [
          index + 1,
          expect.anything(),
          expect.anything(),
          model === null ? null : index < replayed.total,
        ]),
      ),
    });
  });
});
