import { describe, expect, it } from 'vitest';
import type { Report, TrendRun } from '../../src/model/report.ts';
import { buildTrend } from '../../src/history/lookup.ts';
import { screen } from '../../src/report/document/fit.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { composeTrend, renderSparkline } from '../../src/report/document/trend.ts';
import { createHistoryRecord } from '../support/factories/history-factory.ts';
import { createReport } from '../support/factories/report-factory.ts';

const runOf = (passed: number, total: number): TrendRun => {
  return { startedAt: 'x', commit: null, outcome: 'failed', cases: 1, passed, total };
};

describe('renderSparkline', () => {
  it('keeps the full block for gates in which everything passed', () => {
    const runs = [runOf(10, 10), runOf(999, 1000), runOf(5, 10), runOf(1, 100), runOf(0, 10), runOf(0, 0)];
    expect(renderSparkline(runs)).toBe('█▇▄▁▁·');
  });

  it('draws no rate of an inconclusive gate', () => {
    expect(renderSparkline([{ ...runOf(10, 10), outcome: 'inconclusive' }])).toBe('·');
  });
});

const render = (report: Report) => renderMarkdown(composeTrend(report), { detail: screen, depth: 2 });

describe('the trend', () => {
  const records = [
    createHistoryRecord({ startedAt: '2026-09-19T03:00:00.000Z', commit: null, outcome: 'inconclusive' }),
    createHistoryRecord(),
  ];
  const revision = { commit: 'f'.repeat(40), branch: 'main' };

  it('ends with this gate, newest first in the table', () => {
    const report = createReport({ revision, trend: buildTrend(records, 'main') });
    expect(render(report)).toMatchInlineSnapshot(`
      "### Trend

      ·▆█ 3 gates on \`main\`, this one last

      | When | Commit | Verdict | Passed | Cases |
      |---|---|---|---|---|
      | 2026-09-21 12:00 | \`fffffff\` | passed | 3 of 3 (100%) | 1 |
      | 2026-09-20 03:00 | \`0123456\` | passed | 3 of 4 (75%) | 2 |
      | 2026-09-19 03:00 | – | inconclusive | 3 of 4 | 2 |
      "
    `);
    expect(renderTerminal(report, { color: false })).toContain('Trend  ·▆█ 3 gates on main, this one last\n');
  });

  it('is not shown without a history or without an earlier gate of the branch', () => {
    expect(composeTrend(createReport({ revision }))).toEqual([]);
    const report = createReport({ revision, trend: buildTrend(records, 'other') });
    expect(composeTrend(report)).toEqual([]);
    expect(renderTerminal(report, { color: false })).not.toContain('Trend');
  });

  it('escapes the texts of a hostile history', () => {
    const strange = createHistoryRecord({ startedAt: '2026-09-20T03:00|<b>', commit: '`x`' });
    const report = createReport({ revision, trend: { ...buildTrend([strange], 'main'), branch: '`|<img>' } });
    const text = render(report);
    expect(text).toContain('on ``` `|<img> ```'.replaceAll('```', '``'));
    expect(text).toContain('| 2026-09-20 03:00 | – | passed |');
  });
});
