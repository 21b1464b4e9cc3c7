import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CoverageKind, CoverageReport } from '../../src/model/coverage-report.ts';
import type { SuiteResults } from '../../src/model/results.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { hostileText } from '../support/text/hostile-text.ts';
import { listActiveNodes, listMarkdownNodes } from '../support/text/markdown-tree.ts';
import { createHostileReport, createRedReport, createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';
import { countDraws } from '../support/property-runs.ts';

/** `failing` cases that each failed once for a long reason, and as many that passed. */
function createLargeReport(failing: number, reason = 'é'.repeat(3000)) {
  const cases = Array.from({ length: failing * 2 }, (_, index) =>
    index % 2 === 0
      ? createCaseResults({ id: `ok-${index}`, title: `Passing case ${index}` })
      : createCaseResults({
          id: `bad-${index}`,
          title: `Failing case ${index}`,
          failed: 1,
          failures: [createFailure({ iterationId: `it_${index}`, reasons: [`${index} ${reason}`] })],
        }),
  );
  return createReport({ suites: [createSuiteResults({ cases })] });
}

/** How much the page shows: rows of failing and of passing cases, and reasons of failures. */
function measure(page: string) {
  return {
    failing: page.match(/^\| ❌ /gm)?.length ?? 0,
    passing: page.match(/^\| ✅ /gm)?.length ?? 0,
    details: page.match(/^- `\d+ /gm)?.length ?? 0,
  };
}

const deadline: SuiteResults['interruption'] = { code: 'deadline', message: 'The time was up.' };

describe('renderSummary', () => {
  it.each<[string, { name?: CoverageKind; value: number }, Partial<CoverageReport>, Partial<SuiteResults>]>([
    ['✅ 50%', { value: 0.5 }, {}, {}],
    ['❌ 80%', { value: 0.8 }, {}, {}],
    ['⚠️ 80%', { value: 0.8 }, {}, { interruption: deadline }],
    ['✅ 50%', { value: 0.5 }, {}, { interruption: deadline }],
    ['⚠️ 80%', { value: 0.8, name: 'errors' }, { unreadTraces: 1 }, {}],
    ['80%', { value: 0.8 }, { isPartial: true }, {}],
  ])('marks a minimum of the coverage with %s: %j, %j, %j', (mark, minimum, measured, end) => {
    const { name = 'tools', value } = minimum;
    const items = [true, false].map((isCovered, index) => ({ kind: name, path: [`t${index}`], isCovered }));
    const { policy, results, ...report } = createReport();
    const summary = renderSummary({
      ...report,
      policy: { ...policy, minimumCoverage: [{ name, value, source: 'policy.yaml:1' }] },
      results: results.map((each) => ({ ...each, ...end })),
      coverage: { unread: null, isPartial: false, unreadTraces: 0, items, ...measured },
    });
    expect(summary).toContain(`| 1 of 2 | 50% | ${mark} | `);
  });

  it('opens with the verdict and its reason', () => {
    expect(renderSummary(createRedReport()).split('\n').slice(0, 3)).toEqual([
      '## ❌ Eval gate failed',
      '',
      '**Why:** 7 of 11 iterations passed (63.6%), the minimum is 90% (from `evals/math.evals.yaml:4`)',
    ]);
  });

  it('ends with the links it is given', () => {
    const links = [{ label: 'Full report', url: 'https://github.com/o/r/actions/runs/1' }];
    const page = renderSummary(createRedReport(), { links });
    expect(page.split('\n').at(-2)).toBe('[Full report](<https://github.com/o/r/actions/runs/1>)');
    expect(listMarkdownNodes(page).filter(({ type }) => type === 'link')).toHaveLength(1);
  });

  it('folds passing cases away when they are many, and details when more than five cases failed', () => {
    const page = renderSummary(createLargeReport(20, 'short'));
    expect(page).toContain('<summary>20 cases passed</summary>');
    expect(page).toContain('<summary>What failed in 15 more cases</summary>');
    expect(measure(page)).toEqual({ failing: 20, passing: 20, details: 20 });
  });

  it('says how many failed iterations it holds no evidence of', () => {
    const failures = [createFailure()];
    const suite = createSuiteResults({ cases: [createCaseResults({ failed: 1000, failures })] });
    expect(renderSummary(createReport({ suites: [suite] }))).toContain('\nand 999 more failed iterations.\n');
  });

  it.each([
    [10_000_000, 30, { failing: 400, passing: 400, details: 400 }],
    [200_000, 3000, { failing: 100, passing: 0, details: 20 }],
    [30_000, 3000, { failing: 100, passing: 0, details: 3 }],
    [2000, 3000, { failing: 0, passing: 0, details: 0 }],
    [100, 3000, { failing: 0, passing: 0, details: 0 }],
  ])('says less rather than exceed %i bytes, with reasons of %i characters', (maxBytes, length, shown) => {
    const page = renderSummary(createLargeReport(400, 'é'.repeat(length)), { maxBytes });
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(maxBytes);
    expect(measure(page)).toEqual(shown);
    expect(listActiveNodes(page)).toEqual([]);
    expect(page.split('<details>')).toHaveLength(page.split('</details>').length);
    expect(page.startsWith('## ❌ Eval gate failed\n')).toBe(true);
  });

  it('leaves out the passing cases first', () => {
    const report = createLargeReport(40);
    const page = renderSummary(report, { maxBytes: Buffer.byteLength(renderSummary(report)) - 1 });
    expect(measure(page)).toEqual({ failing: 40, passing: 0, details: 40 });
  });

  it('counts what it leaves out', () => {
    const page = renderSummary(createLargeReport(400), { maxBytes: 200_000 });
    expect(page).toContain('\n300 more cases did not pass; the report lists them.\n');
    expect(page).toContain('\n400 cases passed.\n');
  });

  it('begins no HTML with a note that has no words', () => {
    const notes = ['', '<img src=x>', ' '];
    expect(listActiveNodes(renderSummary(createReport({ notes })))).toEqual([]);
  });

  it('holds foreign text in code only', () => {
    // document.test.ts covers every line of this page with the fixed texts.
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(listActiveNodes(renderSummary(createHostileReport(text)))).toEqual([]);
      }),
      { numRuns: countDraws(100) },
    );
  });
});
