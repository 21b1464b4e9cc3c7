import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/model/report.ts';
import { renderComment } from '../../src/report/comment.ts';
import { createBehaviourReport } from '../support/factories/behaviour-factory.ts';
import { hostileText, hostileTexts } from '../support/text/hostile-text.ts';
import { listActiveNodes, listMarkdownNodes } from '../support/text/markdown-tree.ts';
import {
  createGreenReport,
  createHostileReport,
  createInconclusiveReport,
  createRedReport,
  createReport,
} from '../support/factories/report-factory.ts';
import { createPageReport } from '../support/factories/page-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';
import { countDraws } from '../support/property-runs.ts';

const ownPages = 'https://github.com/your-org/your-server/';

/** The comment as a job of that name would post it. */
function renderInJob(report: Report, job: string): string {
  return renderComment(report, {
    job,
    run: { label: 'Run 12, attempt 1', url: `${ownPages}actions/runs/41` },
    linkLine: ({ file, line }) => `${ownPages}blob/1111111/${encodeURIComponent(file.toWellFormed())}#L${line}`,
  });
}

/** What of the page acts and is none of our own links. */
function listForeignNodes(page: string) {
  return listActiveNodes(page).filter((node) => node.type !== 'link' || !node.url.startsWith(ownPages));
}

function createFailingReport(failing: number, reason: string) {
  const cases = Array.from({ length: failing }, (_, index) =>
    createCaseResults({
      id: `bad-${index}`,
      title: `Failing case ${index}`,
      passed: 0,
      failed: 1,
      failures: [createFailure({ iterationId: `it_${index}`, reasons: [`${index} ${reason}`] })],
    }),
  );
  return createReport({ suites: [createSuiteResults({ cases })] });
}

const countShownFailures = (page: string) => page.match(/^- ❌ /gm)?.length ?? 0;

describe('renderComment', () => {
  it('opens with the verdict and the one reason', () => {
    expect(renderComment(createRedReport()).split('\n').slice(0, 3)).toEqual([
      '### ❌ Eval gate failed',
      '',
      '**Why:** 7 of 11 iterations passed (63.6%), the minimum is 90% (from `evals/math.evals.yaml:4`)',
    ]);
  });

  it('lists differences from the behaviour of the base, also if the gate passed', () => {
    const page = renderComment({ ...createGreenReport(), behaviour: createBehaviourReport() });
    expect(page).toContain('compared 57 sessions of base `abc1234` on 8 of 9 tools');
    expect(page).toMatch(/^- ⚠️ changed `list_notes` .*<br>\n {2}\\- `"alpha"`<br>\n {2}\\\+ `"ALPHA"`$/m);
    // The signs are text, and begin no list.
    const items = listMarkdownNodes(page).filter((node) => node.type === 'listItem');
    expect(items.flatMap(({ children }) => children.map(({ type }) => type))).not.toContain('list');
    expect(page).not.toContain('slower `search`');
    const unread = { ...createBehaviourReport(), compared: null, problem: 'git does not have it.' };
    expect(renderComment({ ...createGreenReport(), behaviour: unread })).toContain('git does not have it');
  });

  it('lists missing results before anything else about the cases', () => {
    const page = renderComment(createInconclusiveReport());
    const unread = page.indexOf('**Not read:** 5 of 9 iterations have no result.');
    expect(unread).toBeGreaterThan(0);
    expect(unread).toBeLessThan(page.indexOf('`Math server`:'));
    expect(renderComment(createRedReport())).not.toContain('Not read');
  });

  it('folds away the failures that a suite tolerates', () => {
    const page = renderComment(createGreenReport());
    expect(page).toContain('<summary>1 case did not pass</summary>');
    expect(page.indexOf('`Divides`')).toBeGreaterThan(page.indexOf('<details>'));
  });

  it('shows three failing cases and folds the others away', () => {
    const page = renderComment(createFailingReport(12, 'short'));
    expect(page).toContain('<summary>9 more cases did not pass</summary>');
    expect(countShownFailures(page.split('<details>')[0] ?? '')).toBe(3);
    expect(countShownFailures(page)).toBe(12);
  });

  it('has the verdict, what changed and the worst cases before the other reasons, and at most one table', () => {
    const page = renderComment(createPageReport(), { since: 'Since commit 1a2b3c4: 2 fixed, 1 new.' });
    const places = ['**Why:**', 'Since commit', '`Weather server`:', '- ❌ `Converts', 'Of the tag'].map((text) =>
      page.indexOf(text),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(page.match(/^\|(?:-+\|)+$/gm) ?? []).toEqual([]);
    expect(renderComment(createPageReport())).not.toContain('Since');
  });

  it('puts suites that failed before those that passed', () => {
    const failure = { passed: 0, failed: 1, failures: [createFailure()] };
    const suites = [
      createSuiteResults({ suiteId: 'good', name: 'Good' }),
      createSuiteResults({ suiteId: 'bad', name: 'Bad', cases: [createCaseResults(failure)] }),
    ];
    const page = renderComment(createReport({ suites }));
    expect(page.indexOf('❌ `Bad`')).toBeGreaterThan(0);
    expect(page.indexOf('❌ `Bad`')).toBeLessThan(page.indexOf('✅ `Good`'));
  });

  it('links the lines of the cases where their location is known', () => {
    const report = createRedReport();
    const linkLine = ({ file, line }: { file: string; line: number }) => `${ownPages}blob/1111111/${file}#L${line}`;
    const links = listMarkdownNodes(renderComment(report, { linkLine })).filter((node) => node.type === 'link');
    expect(links.map(({ url }) => url)).toEqual([
      `${ownPages}blob/1111111/evals/math.evals.yaml#L7`,
      `${ownPages}blob/1111111/evals/math.evals.yaml#L21`,
      `${ownPages}blob/1111111/src/weather.ts#L3`,
    ]);
    expect(renderComment(report, { linkLine: () => null })).toContain('· `evals/math.evals.yaml:7`');
  });

  it.each([
    [60_000, 50],
    [12_000, 20],
    [4_000, 5],
    [1_000, 0],
    [50, 0],
  ])('says less rather than exceed %i bytes', (maxBytes, shown) => {
    const page = renderComment(createFailingReport(400, 'é'.repeat(3000)), { maxBytes });
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(maxBytes);
    expect(countShownFailures(page)).toBe(shown);
    expect(page.split('<details>')).toHaveLength(page.split('</details>').length);
    expect(page.startsWith('### ❌ Eval gate failed\n')).toBe(true);
    expect(listActiveNodes(page)).toEqual([]);
  });

  it('holds foreign text in code only', () => {
    for (const text of hostileTexts) expect(listForeignNodes(renderInJob(createHostileReport(text), text))).toEqual([]);
  });

  it('holds thousands of foreign texts in code only, twenty on a page', () => {
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 20, maxLength: 20 }), (texts) => {
        const cases = texts.map((text, index) =>
          createCaseResults({
            id: `case-${index}`,
            title: text,
            location: { file: text, line: 1, column: 1 },
            passed: 0,
            failed: 1,
            failures: [createFailure({ reasons: [text] })],
          }),
        );
        const report = createReport({ suites: [createSuiteResults({ name: texts[0] ?? '', cases })], notes: texts });
        expect(listForeignNodes(renderInJob(report, texts[1] ?? ''))).toEqual([]);
      }),
      { numRuns: countDraws(500) },
    );
  });
});
