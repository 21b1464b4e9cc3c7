import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../../src/model/report.ts';
import { pageScript, pageStyle } from '../../../src/report/html/page-assets.ts';
import { renderHtml } from '../../../src/report/html/page.ts';
import { hostileText, hostileTexts } from '../../support/text/hostile-text.ts';
import { listComments, listElements, readPage } from '../../support/text/html-tree.ts';
import { createIterationTrace, createPageEvidence, createPageReport } from '../../support/factories/page-factory.ts';
import {
  createFlakyReport,
  createHostileReport,
  createPolicyReport,
  createRedReport,
  createReport,
  createStoppedReport,
} from '../../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../../support/factories/results-factory.ts';
import { createBehaviourReport } from '../../support/factories/behaviour-factory.ts';
import { countDraws } from '../../support/property-runs.ts';

/** A hundred cases with a foreign title and reason each. */
function createReportOn(texts: readonly string[]): Report {
  const cases = texts.map((text, index) =>
    createCaseResults({
      id: `case-${index}`,
      title: text,
      tags: [text],
      failed: 1,
      failures: [
        createFailure({
          iterationId: text,
          reasons: [text],
          actualToolCalls: [{ toolName: text, arguments: { [text]: text } }],
        }),
      ],
    }),
  );
  return createReport({ suites: [createSuiteResults({ cases })], notes: texts.slice(0, 10) });
}

/** The elements of a page, with scripts and without. A text adds none but `code`, bare, around what it has between backticks. */
function listBoth(page: string): string[][] {
  return [true, false].map((scripting) =>
    listElements(page, { scripting })
      .filter((element) => element !== 'code')
      // Longer data is compressed.
      .map((element) => element.replace('application/gzip', 'application/json')),
  );
}

describe('renderHtml', () => {
  const commit = '0123456789abcdef0123456789abcdef01234567';
  const pages = (repositoryUrl: string) => ({
    repositoryUrl,
    run: { label: 'Run 7', url: `${repositoryUrl}/actions/runs/1` },
    linkLine: ({ file, line }: { file: string; line: number }) => `${repositoryUrl}/blob/${commit}/${file}#L${line}`,
  });

  it('links the repository, the pull request, the commit and the run, if it gets their addresses', () => {
    const report = { ...createPageReport(), revision: { commit, branch: 'PR 12' } };
    const bar = (page: string) => /<p class="revision">.*<\/p>/.exec(page)?.[0] ?? '';
    const root = 'https://github.com/octo/server';
    expect(
      [...bar(renderHtml(report, { links: pages(root) })).matchAll(/href="([^"]*)"/g)].map(([, url]) => url),
    ).toEqual([root, `${root}/pull/12`, `${root}/commit/${commit}`, `${root}/actions/runs/1`]);
    expect(bar(renderHtml(report))).toContain('<bdi>PR 12</bdi> · <bdi>0123456</bdi>');
    expect(bar(renderHtml(report))).not.toContain('href');
  });

  it('links no address of another scheme, and no branch or commit that is foreign text', () => {
    const report = { ...createPageReport(), revision: { commit: '"><b>', branch: 'PR 1/../..' } };
    expect(renderHtml(report, { links: pages('javascript:alert(1)') })).not.toContain('href="javascript:');
    const page = renderHtml(report, { links: pages('https://github.com/octo/"><b>') });
    expect(page).not.toMatch(/"><b>|\/pull\/|\/commit\//);
  });

  it('has at most 100 kB for 20 cases', () => {
    const cases = Array.from({ length: 20 }, (_, index) =>
      createCaseResults({
        id: `case-${index}`,
        title: `Adds numbers ${index}`,
        failed: index % 4,
        failures: [createFailure({})],
      }),
    );
    const report = createReport({ suites: [createSuiteResults({ cases })] });
    const page = renderHtml(report, {
      evidence: createPageEvidence(report),
      links: pages('https://github.com/octo/server'),
    });
    expect(Buffer.byteLength(page)).toBeLessThan(100_000);
  });

  it('shows differences from the behaviour of the base without the script', () => {
    const page = renderHtml({ ...createRedReport(), behaviour: createBehaviourReport() });
    const [body = ''] = page.split('<div id="app">');
    expect(body).toContain('<h2 id="behaviour">Behaviour</h2>');
    expect(body).toContain('TypeError: notes.remove is not a function');
    // Both sides in one row, with the words that differ.
    expect(body).toMatch(
      /<td class="expected">.*&quot;<mark>alpha<\/mark>&quot;.*<td class="actual">.*<mark>ALPHA<\/mark>/,
    );
    expect(body).toMatch(/<td class="none"><\/td><td class="actual">.*ready/);
    expect(body).toContain('Seen with: ');
    expect(renderHtml(createRedReport())).not.toContain('id="behaviour"');
  });

  it.each(hostileTexts)('escapes the texts of a comparison of behaviour: %j', (text) => {
    const behaviour = createBehaviourReport(text);
    const plain = renderHtml({ ...createRedReport(), behaviour: createBehaviourReport('text') });
    // A text in backticks is code, and an empty one is nothing. The text decides how many rows a comparison has.
    const variable = new Set(['code', 'bdi', 'br', 'div', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'span', 'mark']);
    const names = (page: string) =>
      listElements(page, { scripting: false })
        .map((element) => element.split(' ')[0] ?? '')
        .filter((name) => !variable.has(name));
    expect(names(renderHtml({ ...createRedReport(), behaviour }))).toEqual(names(plain));
  });

  it('says the verdict, its reason and what did not pass without any script', () => {
    const page = renderHtml(createRedReport());
    const text = page
      .slice(page.indexOf('<main'), page.indexOf('</main>'))
      .replaceAll(/<[^>]*>/g, '')
      .trim();
    expect(text.split(/\n+/)).toMatchInlineSnapshot(`
      [
        "✗",
        "Eval gate failed",
        "7 of 11 iterations passed (63.6%), the minimum is 90% (from evals/math.evals.yaml:4)",
        "The required case &quot;Adds two numbers&quot; failed 2 of 3 iterations.",
        "11 iterations of 3 cases, in 12.3 s",
        "math 2.0.0 over stdio, MCP 2025-11-25, process per iteration",
        "Cases that did not pass",
        "Adds two numbers, 1 of 3 passed: Expected the result of add to contain &quot;4&quot;, got &quot;5&quot;.",
        "Asks for the weather in Paris, 1 of 3 passed: The call of get_weather has other arguments than expected.",
        "Scripts are off here; with them the page shows every case and its iterations.",
      ]
    `);
  });

  it('shows what stands between backticks as code, and single backticks as they are', () => {
    const red = createRedReport();
    const [testCase, ...others] = red.cases;
    const reasons = ['The input `policy` names <b>`a`</b> and a lone ` backtick.'];
    const failures = testCase?.failures.map((failure) => ({ ...failure, reasons })) ?? [];
    const page = renderHtml({ ...red, notes: reasons, cases: testCase ? [{ ...testCase, failures }, ...others] : [] });
    const shown = 'The input <code>policy</code> names &lt;b&gt;<code>a</code>&lt;/b&gt; and a lone ` backtick.';
    expect(page.split(shown)).toHaveLength(3);
  });

  it('lists the notes of the gate below the verdict', () => {
    expect(renderHtml(createPolicyReport())).toContain(
      '</section>\n<ul class="notes">\n<li><bdi>The policy that counts is the one of main; this change alters policy.yaml.</bdi></li>\n</ul>\n',
    );
    expect(renderHtml(createRedReport())).not.toContain('class="notes"');
  });

  it.each(['fail', 'pass', 'report'] as const)('says how often a flaky case ran again, with flaky: %s', (flaky) => {
    const page = renderHtml(createFlakyReport(flaky));
    expect(page).toContain(`<section class="verdict ${flaky === 'fail' ? 'failed' : 'passed'}"`);
    expect(page).toContain('<b><bdi>Adds two numbers</bdi></b>, 1 of 2 passed; run again: 0 of 2, 2 of 2: <bdi>');
  });

  it('says what a gate that stopped early left without a result', () => {
    const page = renderHtml(createStoppedReport());
    expect(page).toContain('2 passed, 2 failed (50% of what ran, biased)');
    expect(page).toContain('<li><b><bdi>Divides</bdi></b>, 1 of 3 passed, 2 without a result</li>');
  });

  it('lets nothing run or load but its own script and style, which its policy names', () => {
    const page = renderHtml(createRedReport());
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1]?.split('; ') ?? [];
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(policy).toEqual([
      `default-src 'none'`,
      `script-src ${hash(pageScript)}`,
      `style-src ${hash(pageStyle)}`,
      `base-uri 'none'`,
      `form-action 'none'`,
      `require-trusted-types-for 'script'`,
      `trusted-types 'none'`,
    ]);
    expect(page.split('<script>')[1]?.split('</script>')[0]).toBe(pageScript);
    expect(page.split('<style>')[1]?.split('</style>')[0]).toBe(pageStyle);
    expect(`${pageScript}${pageStyle}`).not.toMatch(/<\/?(?:script|style)|<!--/i);
    expect(pageStyle).not.toMatch(/url\(|@import/);
    expect(pageScript).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
  });

  it('gives the script the report as it is, and the iterations by case', () => {
    const report = createPageReport();
    const evidence = createPageEvidence(report);
    const data = readPage(renderHtml(report, { evidence }));
    const { policy: _policy, results: _results, ...shown } = report;
    // Only suites show rates of repeats.
    expect(data.report).toEqual({ ...shown, cases: shown.cases.map((each) => ({ ...each, repeats: [] })) });
    expect(data.definitions.map((text) => text?.split('\n')[0] ?? null).slice(0, 2)).toEqual([
      'title: Asks for the weather in Paris',
      null,
    ]);
    expect(data.traces).toEqual(evidence.traces);
    expect(data.leftOut).toEqual({ cases: 0, failures: 0, traces: 0 });
    expect(data.marks.map((marks) => marks.length)).toEqual(report.cases.map(({ planned }) => planned));
    expect(data.marks[0]?.map(([number, standing]) => [number, standing])).toEqual([
      [1, 'passed'],
      [2, 'failed'],
      [3, 'passed'],
      [4, 'failed'],
      [5, 'passed'],
    ]);
    expect(readPage(renderHtml(report)).marks).toEqual(report.cases.map(() => []));
  });

  it('has the same elements whatever thousands of hostile texts say, and hands each of them on as text', () => {
    const expected = listBoth(renderHtml(createReportOn(Array.from({ length: 100 }, () => 'plain'))));
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 100, maxLength: 100 }), (texts) => {
        const page = renderHtml(createReportOn(texts));
        expect(listBoth(page)).toEqual(expected);
        expect(listComments(page)).toEqual([]);
        expect(readPage(page).report.cases).toHaveLength(100);
      }),
      { numRuns: countDraws(100) },
    );
  });

  it('has the same elements where every text of the report is hostile', () => {
    const evidenceOn = (text: string) => ({
      iterations: [],
      traces: [
        createIterationTrace({
          iterationId: text,
          messages: [{ role: text, parts: [{ kind: 'call', toolName: text, text }] }],
          spans: [{ name: text, category: text, startMs: 0, durationMs: 1, isError: false }],
          output: [{ startMs: 0, text }],
        }),
      ],
      definitions: [{ file: text, line: 1, text }],
    });
    const render = (text: string) => renderHtml(createHostileReport(text), { evidence: evidenceOn(text) });
    const expected = listBoth(render('plain'));
    for (const text of hostileTexts) expect(listBoth(render(text))).toEqual(expected);
  });
});
