import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/model/report.ts';
import type { ReasonCode } from '../../src/model/verdict.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import { createRedReport, createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const firstBlocks = (text: string, count: number) => text.split('\n\n').slice(0, count).join('\n\n');
const interrupted = (code: ReasonCode, message: string) =>
  createReport({ suites: [createSuiteResults({ interruption: { code, message } })] });

describe('a report of a shard', () => {
  const shard: Report = { ...createRedReport(), shard: { index: 2, total: 4, digest: 'd1' } };

  it('says in every format that it is a part', () => {
    expect(firstBlocks(renderSummary(shard), 3)).toMatchInlineSnapshot(`
      "## ❌ Shard 2 of 4 failed

      This shard has part of the cases. The verdict of the gate is that of all 4 shards, judged where they are merged.

      **Why:** 7 of 11 iterations passed (63.6%), the minimum is 90% (from \`evals/math.evals.yaml:4\`)"
    `);
    expect(firstBlocks(renderComment(shard), 2)).toMatchInlineSnapshot(`
      "### ❌ Shard 2 of 4 failed

      This shard has part of the cases. The verdict of the gate is that of all 4 shards, judged where they are merged."
    `);
    expect(renderTerminal(shard, { color: false, columns: 120 }).split('\n').slice(0, 4)).toMatchInlineSnapshot(`
      [
        "✗ Shard 2 of 4 failed: 7 of 11 iterations passed (63.6%), the minimum is 90% (from evals/math.evals.yaml:4)",
        "  This shard has part of the cases. The verdict of the gate is that of all 4 shards, judged where they are merged.",
        "  The required case "Adds two numbers" failed 2 of 3 iterations.",
        "",
      ]
    `);
    expect(renderHtml(shard)).toContain('<h1 id="verdict">Shard 2 of 4 failed</h1>');
  });

  it('warns, and leaves the errors to the job that merges', () => {
    const [verdict] = planAnnotations(shard);
    expect(verdict).toMatchInlineSnapshot(`
      {
        "level": "warning",
        "message": "7 of 11 iterations passed (63.6%), the minimum is 90% (from evals/math.evals.yaml:4)
      The required case "Adds two numbers" failed 2 of 3 iterations.
      This shard has part of the cases. The verdict of the gate is that of all 4 shards, judged where they are merged.",
        "title": "Shard 2 of 4 failed",
      }
    `);
    expect(new Set(planAnnotations(shard).map(({ level }) => level))).toEqual(new Set(['warning']));
    expect(new Set(planAnnotations(createRedReport()).map(({ level }) => level))).toEqual(new Set(['error']));
  });
});

describe('an inconclusive report', () => {
  it('says how to go on by what kept it from a verdict', () => {
    const advise = (report: Report) => renderSummary(report).split('\n\n')[2];
    expect(advise(interrupted('cancelled', 'GitHub cancelled the job.'))).toMatchInlineSnapshot(
      `"The gate was cancelled before it had a verdict. Run it again."`,
    );
    expect(advise(interrupted('server-lost', 'The server exited.'))).toMatchInlineSnapshot(
      `"The gate has no verdict about this change, neither good nor bad. Fix the cause above and run it again."`,
    );
    const policy = createPolicy({ confidence: ofPolicy(0.95) });
    expect(advise(createReport({ policy }))).toMatchInlineSnapshot(
      `"The results do not settle whether this change is good or bad. Add cases, or more \`runs\` of them."`,
    );
    const probation = [{ case: 'adds', passedGates: 1, neededGates: 3 }];
    const onProbation = { ...createPolicy(), requirements: { ...createPolicy().requirements, probation } };
    expect(advise(createReport({ policy: onProbation }))).toMatchInlineSnapshot(
      `"The cases that ran count once they have passed in enough gates in a row."`,
    );
  });
});

describe('a report that failed', () => {
  it('gives no reason of a suite that passed', () => {
    const failed = createSuiteResults({ cases: [createCaseResults({ passed: 0, failed: 3 })] });
    const passed = createSuiteResults({ suiteId: 'search', name: 'Search' });
    const text = renderSummary(createReport({ suites: [passed, failed] }));
    expect(text.slice(0, text.indexOf('###'))).toMatchInlineSnapshot(`
      "## ❌ Eval gate failed

      **Why:** \`Math server\`: 0 of 3 iterations passed (0%), the minimum is 90% (from \`evals/math.evals.yaml:4\`)

      "
    `);
  });

  it('says what the results that are missing could at most have changed', () => {
    const suites = [createSuiteResults({ cases: [createCaseResults({ passed: 0, failed: 9, unscored: 1 })] })];
    const text = renderSummary(createReport({ suites }));
    expect(text.slice(0, text.indexOf('###'))).toMatchInlineSnapshot(`
      "## ❌ Eval gate failed

      **Why:** 0 of 9 iterations passed (0%), the minimum is 90% (from \`evals/math.evals.yaml:4\`); 1 iteration has no result, and if all passed, the rate would be 10%

      - 1 iteration ended without a result.

      **Not read:** 1 of 10 iterations have no result.

      "
    `);
  });
});
