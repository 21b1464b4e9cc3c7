import { source as axeSource } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareValues, toDifference } from '../../../src/base/difference.ts';
import type { Report } from '../../../src/model/report.ts';
import type { RoundsReport } from '../../../src/model/rounds.ts';
import { renderComment } from '../../../src/report/comment.ts';
import { renderHtml } from '../../../src/report/html/page.ts';
import { renderHistoryPage } from '../../../src/history/page.ts';
import { summarizeHistory } from '../../../src/history/summarize.ts';
import { createHistoryRecord } from '../../support/factories/history-factory.ts';
import { launchBrowser, missingBrowser, openFilePage } from '../../support/browser.ts';
import { renderGitHubPage } from '../../support/text/github-page.ts';
import { hostileTexts } from '../../support/text/hostile-text.ts';
import { createIterationTrace, createPageEvidence, createPageReport } from '../../support/factories/page-factory.ts';
import { createHostileReport, createReport } from '../../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../../support/factories/results-factory.ts';

const report = createPageReport();
const html = renderHtml(report, { evidence: createPageEvidence(report) });
let browser: Browser;

const titles = async (page: Page) => await page.locator('.case .title bdi').allTextContents();

/** What the accessibility checker finds wrong, by the rules of WCAG 2.2 AA and good practice. */
async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }>(
    'axe.run()',
  );
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
}

if (missingBrowser !== null) console.warn(`Skipped: ${missingBrowser}.`);

describe.skipIf(missingBrowser !== null)('the page in a browser', () => {
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });

  it('lists the cases worst first, the worst one open, and neither complains nor asks for anything', async () => {
    await using open = await openFilePage(browser, html);
    expect(await titles(open.page)).toEqual([
      'Asks for the weather in Paris',
      'Converts degrees',
      'Follows a redirect',
      'Lists cities',
      'Gets the forecast',
      'Reads the units',
      'Refuses an unknown city',
    ]);
    expect(await open.page.locator('.case .panel:visible').count()).toBe(1);
    expect(await open.page.locator('.difference').first().innerText()).toContain('unit: "celsius"');
    expect(open.complaints).toEqual([]);
  });

  it('has the command that runs a failed case again, with a button that copies it', async () => {
    const shown = { ...report, repeat: 'npx mcp-eval-ci run --server-command "node a.js"' };
    await using open = await openFilePage(browser, renderHtml(shown, { evidence: createPageEvidence(report) }));
    const command = open.page.locator('.panel:visible .command');
    expect(await command.locator('code').innerText()).toMatch(/^npx mcp-eval-ci run --server-command "node a.js" --/);
    await command.getByRole('button').click();
    await command
      .getByRole('status')
      .filter({ hasText: /Copied|Selected/ })
      .waitFor();
    expect([open.complaints, await findBarriers(open.page)]).toEqual([[], []]);
    await using without = await openFilePage(browser, html);
    expect(await without.page.locator('.command').count()).toBe(0);
  });

  it.each([
    [1280, 'light'],
    [380, 'dark'],
  ] as const)('shows a history without scripts and without barriers at %i px, %s', async (width, colorScheme) => {
    const records = ['a', '<script>alert(1)</script>'].flatMap((id, index) =>
      [2, 1].map((passed, gate) =>
        createHistoryRecord({
          startedAt: `2026-09-${20 + 2 * index + gate}T03:00:00.000Z`,
          cases: [{ ...createHistoryRecord().cases[0]!, id, passed }],
        }),
      ),
    );
    const page = renderHistoryPage(summarizeHistory(records, 'main'), {
      linkCommit: (commit) => `https://github.com/octo/server/commit/${commit}`,
      currency: 'USD',
    });
    const options = { colorScheme, viewport: { width, height: 800 } };
    await using open = await openFilePage(browser, page.replace('<html', '<html data-ready'), options);
    expect(await open.page.locator('h1').innerText()).toBe('The newest gate passed');
    expect(await open.page.locator('.changes li').count()).toBeGreaterThan(2);
    expect(await open.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect([open.complaints, await findBarriers(open.page)]).toEqual([[], []]);
  });

  it('links the lines of files in the repository, which a keyboard reaches, and no others', async () => {
    const linkLine = ({ file, line }: { file: string; line: number }) =>
      file.startsWith('evals/') ? `https://github.com/octo/server/blob/a/${file}#L${line}` : null;
    const links = { repositoryUrl: 'https://github.com/octo/server', run: null, linkLine };
    await using open = await openFilePage(browser, renderHtml(report, { links }));
    const line = open.page.locator('.case a.source').first();
    expect(await line.getAttribute('href')).toBe('https://github.com/octo/server/blob/a/evals/weather.evals.yaml#L21');
    await open.page.locator('.case .title').first().focus();
    await open.page.keyboard.press('Tab');
    expect(await open.page.evaluate('document.activeElement.href')).toBe(await line.getAttribute('href'));
    expect([open.complaints, await findBarriers(open.page)]).toEqual([[], []]);
    await using none = await openFilePage(browser, renderHtml(report, { links: { ...links, linkLine: () => null } }));
    expect(await none.page.locator('a.source').count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)(
    'shows the verdict, what changed and the three worst cases of a comment on the first screen of a phone, %s',
    async (colorScheme) => {
      const what = 'the result of get_note';
      const lines = compareValues(
        { id: 1, tags: ['home', 'weekly'], done: true },
        { id: 1, tags: ['home'], done: false },
      );
      const reason = `toolResultEquals: ${what} is not as expected: /tags/1 is missing, expected "weekly"; /done is false, expected true.`;
      const cases = Array.from({ length: 8 }, (_, index) =>
        createCaseResults({
          id: `case-${index}`,
          title: `Gets the shopping list of week ${index}`,
          location: { file: 'examples/failing/gallery.evals.yaml', line: 14 + index, column: 5 },
          passed: 0,
          failed: 1,
          failures: [createFailure({ reasons: [reason], differences: [toDifference(what, lines)] })],
        }),
      );
      const failing = createReport({ suites: [createSuiteResults({ cases })] });
      const comment = renderComment(
        { ...failing, repeat: 'npx mcp-eval-ci run --server-command "node examples/failing/server.mjs"' },
        { job: 'evals', since: 'Since commit 1a2b3c4: 2 fixed, 1 new, 7 cases still fail.' },
      );
      const options = { colorScheme, viewport: { width: 380, height: 800 } };
      await using open = await openFilePage(browser, renderGitHubPage(comment), options);
      const { page } = open;
      const isOnScreen = async (text: string) => {
        const box = await page.getByText(text, { exact: false }).first().boundingBox();
        return box !== null && box.y >= 0 && box.y + box.height <= 800;
      };
      for (const text of [
        'Eval gate failed',
        'Why:',
        '2 fixed, 1 new',
        'of week 0',
        'of week 1',
        'of week 2',
        'to run a case again',
      ])
        expect([text, await isOnScreen(text)]).toEqual([text, true]);
      expect(await page.locator('table').count()).toBeLessThanOrEqual(1);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(380);
    },
  );

  it('draws no chart of a single run', async () => {
    const cases = [createCaseResults({ planned: 1, passed: 0, failed: 1, failures: [createFailure({})] })];
    const single = createReport({ suites: [createSuiteResults({ cases })] });
    await using open = await openFilePage(browser, renderHtml(single, { evidence: createPageEvidence(single) }));
    expect(await open.page.locator('.panel:visible .failure').count()).toBe(1);
    expect(await open.page.locator('.strip, .timeline, .chart').count()).toBe(0);
    await using several = await openFilePage(browser, html);
    expect(await several.page.locator('.panel:visible .timeline').count()).toBe(1);
  });

  it('marks a failure that a passed gate tolerates as no failure, and opens none', async () => {
    const cases = report.cases.map(
      (each) => ({ ...each, disposition: each.disposition === 'failed' ? 'tolerated' : each.disposition }) as const,
    );
    await using open = await openFilePage(browser, renderHtml({ ...report, cases }));
    const tolerated = open.page.locator('.case.tolerated');
    expect(await tolerated.locator('.mark').allTextContents()).toEqual(['!', '!']);
    expect(await tolerated.first().locator('.title').innerText()).toContain('tolerated');
    expect(await open.page.locator('.case.failed, .panel:visible').count()).toBe(0);
  });

  it('shows what changed of the tool surface, and the size of each tool over the last gates', async () => {
    const change = { id: 'tool.search.removed', severity: 'breaking' as const, rule: 'tool-removed', location: null };
    const texts = { message: 'The tool <b>search</b> was removed', reason: 'Calls fail.', before: null, after: null };
    const reworded = {
      ...change,
      id: 'tool.list.description',
      severity: 'review' as const,
      message: 'The description of the tool list changed',
      reason: 'A model reads it.',
      before: 'Lists all notes.',
      after: 'Lists ten notes.',
    };
    const tool = { name: 'search', bytes: 150, bytesBefore: 120 };
    const configuration = { name: 'default', bytes: 150, bytesBefore: 120, tools: [tool], findings: [] };
    const surface = {
      against: 'surface.json',
      unread: null,
      configurations: [{ ...configuration, changes: [{ ...change, ...texts }, reworded] }],
    };
    const counts = { commit: null, outcome: 'passed' as const, cases: 1, total: 1, passed: 1 };
    const runs = [100, 120].map((bytes) => ({ ...counts, startedAt: '2026-09-20', toolBytes: { search: bytes } }));
    const shown = { ...report, surface, trend: { branch: 'main', runs } };
    await using open = await openFilePage(browser, renderHtml(shown, { evidence: createPageEvidence(report) }));
    const card = open.page.locator('.surface');
    expect(await card.locator('p').first().innerText()).toBe('1 breaking, 1 review, compared with surface.json');
    const difference = card.locator('.difference');
    expect(await difference.locator('td.expected mark, td.actual mark').allTextContents()).toEqual(['all', 'ten']);
    expect(await difference.locator('th').allTextContents()).toEqual(['Where', '− Before', '+ After']);
    expect(await card.locator('table').first().innerText()).toContain('The tool <b>search</b> was removed');
    expect(await card.locator('table').last().innerText()).toContain('150 bytes (+30)');
    expect(await card.getByRole('img').innerText()).toBe('▁▄█');
    expect(await card.getByRole('img').getAttribute('aria-label')).toBe(
      '100 bytes in the first of these gates, 150 in this one; between 100 and 150',
    );
    expect([open.complaints, await findBarriers(open.page)]).toEqual([[], []]);
    await using without = await openFilePage(browser, html);
    expect(await without.page.locator('.surface').count()).toBe(0);
  });

  it('shows what the evals cover, with the minimum of the policy, and code in a reason as code', async () => {
    const item = (tool: string, isCovered: boolean) => ({ kind: 'tools' as const, path: [tool], isCovered });
    const coverage = {
      unread: null,
      isPartial: false,
      unreadTraces: 0,
      items: [item('add', true), item('sub', false)],
    };
    const required = { name: 'tools' as const, value: 0.8, source: 'policy.yaml' };
    const [testCase, ...others] = report.cases;
    if (testCase === undefined) throw new Error('The report has no case.');
    const failures = [createFailure({ reasons: ['Set `timeout` in the case.'] })];
    const cases = [{ ...testCase, failures }, ...others];
    const show = async (shown: Partial<Report>) =>
      await openFilePage(browser, renderHtml({ ...report, cases, coverage, ...shown }));
    await using open = await show({ policy: { ...report.policy, minimumCoverage: [required] } });
    const row = (page: Page) => page.locator('.coverage tbody tr').innerText();
    expect(await row(open.page)).toBe('tools\t1 of 2\t50%\t80%, not met');
    expect(await open.page.locator('.reason code', { hasText: /^timeout$/ }).count()).toBeGreaterThan(0);
    expect([open.complaints, await findBarriers(open.page)]).toEqual([[], []]);
    const [results] = report.results;
    if (results === undefined) throw new Error('The report has no results.');
    const interruption = { code: 'deadline', message: 'The time was up.' } as const;
    await using cut = await show({
      policy: { ...report.policy, minimumCoverage: [required] },
      results: [{ ...results, interruption }],
    });
    expect(await row(cut.page)).toContain('80%, not known');
    await using part = await show({
      policy: { ...report.policy, minimumCoverage: [required] },
      coverage: { ...coverage, isPartial: true },
    });
    expect(await row(part.page)).toMatch(/80%$/);
    await using met = await show({ policy: { ...report.policy, minimumCoverage: [{ ...required, value: 0.5 }] } });
    expect(await row(met.page)).toContain('50%, met');
    await using without = await show({});
    expect(await row(without.page)).toBe('tools\t1 of 2\t50%');
  });

  it('draws how far each requirement was decided, with a sentence and a table', async () => {
    const requirement = { minimum: 0.8, confidence: 0.95, further: null };
    const path = [1, 2].map((round) => ({ round, passed: round * 9, failed: round, evidence: round / 2 }));
    const rounds: RoundsReport = {
      min: 1,
      max: 30,
      ran: 4,
      iterations: 50,
      fixed: { iterations: 525, saved: 475, savedCost: null },
      requirements: [
        { ...requirement, scope: 'suite', subject: null, state: 'passed', decidedAfter: 2, rounds: 2, path },
        { ...requirement, scope: 'tag', subject: '<b>slow', state: 'failed', decidedAfter: 4, rounds: 4, path },
      ],
    };
    const [suite, ...others] = report.suites;
    if (suite === undefined) throw new Error('The report has no suite.');
    const decided = { ...report, suites: [{ ...suite, rounds }, ...others] };
    await using open = await openFilePage(browser, renderHtml(decided, { evidence: createPageEvidence(report) }));
    const card = open.page.locator('.rounds');
    expect(await card.locator('p').innerText()).toBe(
      'Decided after 4 of at most 30 rounds: 50 iterations; a fixed number with the same power takes 525 (475 saved).',
    );
    expect(await card.getByRole('img').getAttribute('aria-label')).toBe(
      'How far the requirements were decided after each of 4 rounds: the suite passed after round 2; tag <b>slow failed after round 4',
    );
    expect(await card.locator('polyline').count()).toBe(2);
    await card.getByText('Rounds as a table').click();
    await card.getByText('tag <b>slow failed after round 4', { exact: true }).last().waitFor();
    expect(open.complaints).toEqual([]);
    expect(await findBarriers(open.page)).toEqual([]);
    await using without = await openFilePage(browser, html);
    expect(await without.page.locator('.rounds').count()).toBe(0);
  });

  it('narrows the list down by text, outcome and tag, and says how many are left', async () => {
    await using open = await openFilePage(browser, html);
    const { page } = open;
    const status = page.getByRole('status');
    await page.getByRole('searchbox', { name: 'Search' }).fill('211.99 degrees');
    await status.getByText('1 of 7 cases').waitFor();
    expect(await titles(page)).toEqual(['Converts degrees']);
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
    await status.getByText('7 cases', { exact: true }).waitFor();
    const passed = page.getByRole('button', { name: 'passed 4' });
    await passed.click();
    expect(await passed.getAttribute('aria-pressed')).toBe('true');
    expect(await titles(page)).toHaveLength(4);
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('smoke');
    expect(await titles(page)).toEqual(['Lists cities', 'Gets the forecast']);
    await page.getByRole('button', { name: 'failed 2' }).click();
    expect(await titles(page)).toEqual(['Asks for the weather in Paris']);
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing has this');
    await status.getByText('0 of 7 cases').waitFor();
  });

  it('shows the trace of a failed iteration, and hides it again', async () => {
    await using open = await openFilePage(browser, html);
    const button = open.page.getByRole('button', { name: 'Trace of iteration 2' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');
    await button.click();
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    expect(await open.page.locator('.waterfall li.span').count()).toBe(6);
    expect(await open.page.locator('.waterfall li.output').allInnerTexts()).toEqual([
      expect.stringMatching(/^stderr weather server 2.0.0 is ready\s+before the first step$/),
      expect.stringMatching(/^stderr unknown unit: C\s+after 1\.2 s$/),
    ]);
    expect(await open.page.locator('.message .role').allTextContents()).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(await open.page.locator('.caption.error').innerText()).toBe('get_forecast answers with an error');
    await button.click();
    expect(await open.page.locator('.waterfall').isVisible()).toBe(false);
  });

  it('shows the lines of the evals file that define a case, with their numbers', async () => {
    await using open = await openFilePage(browser, html);
    const definition = open.page.locator('.panel:visible .definition');
    await definition.locator('summary').click();
    expect(await definition.locator('li').allInnerTexts()).toEqual([
      '  21 | title: Asks for the weather in Paris',
      '  22 | steps:',
      '  23 |   - prompt: Do I need a coat in Paris this week?',
    ]);
    expect([open.complaints, await findBarriers(open.page)]).toEqual([[], []]);
    await open.page.locator('.case').nth(1).locator('.title').click();
    expect(await open.page.locator('.definition').count()).toBe(1);
  });

  it('can be used by keyboard alone', async () => {
    await using open = await openFilePage(browser, html);
    const { page } = open;
    const focused = async () =>
      await page.evaluate<string>(
        'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
      );
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the cases');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
    await page.keyboard.type('degrees');
    await page.getByRole('status').getByText('1 of 7 cases').waitFor();
    const seen: string[] = [];
    while (seen.length < 20 && !(seen.at(-1) ?? '').includes('Converts degrees')) {
      await page.keyboard.press('Tab');
      seen.push(await focused());
    }
    expect(seen.at(-1)).toContain('Converts degrees');
    await page.keyboard.press('Enter');
    expect(await page.locator('.case .panel').isVisible()).toBe(true);
    await page.keyboard.press('Space');
    expect(await page.locator('.case .panel').isVisible()).toBe(false);
    // On and on: from the last thing on the page the browser goes back to its beginning, and nothing holds on to it.
    const places = new Set<string>();
    for (let press = 0; press < 40; press += 1) {
      await page.keyboard.press('Tab');
      places.add(await focused());
    }
    expect(places).toContain('Skip to the cases');
  });

  it('shows where the focus is', async () => {
    await using open = await openFilePage(browser, html);
    await open.page.getByRole('button', { name: 'Theme' }).focus();
    await open.page.keyboard.press('Shift+Tab');
    await open.page.keyboard.press('Tab');
    const style = await open.page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
    expect(style).toBe('solid');
  });

  it('opens the case that the address names, and names the one that was opened', async () => {
    await using open = await openFilePage(browser, html, { anchor: '#case:weather/flaps' });
    expect(await open.page.locator('.case.set-aside .panel').isVisible()).toBe(true);
    expect(await open.page.locator('.case .panel:visible').count()).toBe(1);
    await open.page.getByRole('button', { name: 'Converts degrees' }).click();
    expect(new URL(open.page.url()).hash).toBe('#case:weather/adds');
  });

  it('is read in the order in which a reviewer asks: the verdict, why, how to repeat it, the cases with the worst one open', async () => {
    const shown = { ...report, repeat: 'npx mcp-eval-ci run --server-command "node a.js"' };
    await using open = await openFilePage(browser, renderHtml(shown, { evidence: createPageEvidence(report) }));
    const spoken = await open.page.locator('body').ariaSnapshot();
    const order = [
      'link "Skip to the cases"',
      'heading "Eval gate failed" [level=1]',
      '23 of 30 iterations passed',
      'heading "Run them again" [level=2]',
      'button "Copy the command"',
      'heading "Cases" [level=2]',
      'searchbox "Search"',
      'button "Asks for the weather in Paris , failed, 3 of 5 passed" [expanded]',
      'heading "Iteration 2, step 1 (prompt)',
      'button "Converts degrees , failed, 0 of 5 passed"',
    ];
    const places = order.map((part) => spoken.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('prints what is folded, without its controls, and folds it again', async () => {
    await using open = await openFilePage(browser, html, { anchor: '#case:weather/flaps' });
    const { page } = open;
    const count = async (what: string) => await page.locator(what).count();
    const folded = async () => [await count('details:not([open])'), await count('.case .panel:visible')];
    const before = await folded();
    await page.emulateMedia({ media: 'print' });
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    expect(await folded()).toEqual([0, await count('.case:not(.passed)')]);
    expect(await count('.definition li:visible')).toBe(3);
    expect(await page.getByRole('button').allTextContents()).toEqual(
      await page.locator('.case .title').allTextContents(),
    );
    await page.evaluate('dispatchEvent(new Event("afterprint"))');
    await page.emulateMedia({ media: 'screen' });
    // The definition in the details of a case that was closed before stays with it.
    expect([await count('.case .panel:visible'), await count('details[open]')]).toEqual([before[1], 0]);
    expect(new URL(page.url()).hash).toBe('#case:weather/flaps');
  });

  it.each([
    ['light', 1280],
    ['light', 380],
    ['dark', 1280],
    ['dark', 380],
  ] as const)('has no barriers that can be found in its %s theme at %d pixels', async (colorScheme, width) => {
    await using open = await openFilePage(browser, html, { colorScheme, viewport: { width, height: 800 } });
    await open.page.getByRole('button', { name: 'Trace of iteration 2' }).click();
    for (const summary of await open.page.locator('summary:visible').all()) await summary.click();
    expect(await findBarriers(open.page)).toEqual([]);
  });

  it('follows the system’s theme until the reader chooses one', async () => {
    await using open = await openFilePage(browser, html, { colorScheme: 'dark' });
    const background = async () =>
      await open.page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
    const dark = await background();
    const button = open.page.getByRole('button', { name: 'Theme' });
    await button.click();
    expect(await button.innerText()).toBe('Theme: light');
    const light = await background();
    expect(light).not.toBe(dark);
    await open.page.reload();
    expect(await background()).toBe(light);
    await button.click();
    expect(await background()).toBe(dark);
    await button.click();
    expect(await button.innerText()).toBe('Theme: auto');
  });

  it('fits a phone without scrolling sideways', async () => {
    await using open = await openFilePage(browser, html, { viewport: { width: 360, height: 740 } });
    await open.page.getByRole('button', { name: 'Trace of iteration 2' }).click();
    expect(await open.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await findBarriers(open.page)).toEqual([]);
  });

  it('shows the verdict and the failed cases without scripts', async () => {
    await using open = await openFilePage(browser, html, { javaScriptEnabled: false });
    expect(await open.page.locator('h1').innerText()).toBe('Eval gate failed');
    expect(await open.page.locator('.plain li').count()).toBe(3);
  });

  it('draws the first of many cases, and more when asked', async () => {
    const failure = createFailure({ reasons: ['because '.repeat(200)] });
    const cases = Array.from({ length: 250 }, (_, index) =>
      createCaseResults({ id: `case-${index}`, title: `Case ${index}`, failed: 1, failures: [failure] }),
    );
    const page = renderHtml(createReport({ suites: [createSuiteResults({ cases })] }));
    // So many cases have compressed data, and a few have not.
    expect([page, html].map((text) => text.includes('<script type="application/gzip"'))).toEqual([true, false]);
    await using old = await openFilePage(browser, page, { watch: 'delete globalThis.DecompressionStream' });
    expect(await old.page.getByRole('alert').innerText()).toContain('This browser cannot unpack the cases');
    expect(old.complaints).toEqual([]);
    await using open = await openFilePage(browser, page);
    expect(open.complaints).toEqual([]);
    expect(await titles(open.page)).toHaveLength(40);
    await open.page.getByRole('button', { name: 'Show 100 more of 210' }).click();
    expect(await titles(open.page)).toHaveLength(140);
    expect(await open.page.evaluate('document.activeElement.textContent')).toContain('Case 40');
    await open.page.getByRole('button', { name: 'Show 100 more of 110' }).click();
    await open.page.getByRole('button', { name: 'Show 10 more of 10' }).click();
    expect(await titles(open.page)).toHaveLength(250);
    expect(await open.page.locator('.more').isVisible()).toBe(false);
  });

  it('shows hostile texts as text, whatever is opened', async () => {
    const active = 'script,img,iframe,object,embed,link,base,form,style,video,audio,meta,a';
    const cases = hostileTexts.map((text, index) =>
      createCaseResults({
        id: `case-${index}`,
        title: text,
        failed: 1,
        failures: [
          createFailure({ reasons: [text], expectedToolCalls: [{ toolName: text, arguments: { [text]: text } }] }),
        ],
      }),
    );
    const texts = ['</script><img src=x onerror=alert(1)>', '<!--<script>', '"><svg onload=alert(1)>', '__proto__'];
    const pages = [
      renderHtml(createReport({ suites: [createSuiteResults({ cases })] })),
      ...texts.map((text) => {
        const messages = [{ role: text, parts: [{ kind: 'call', toolName: text, text } as const] }];
        const trace = createIterationTrace({ suiteId: 'math', iterationId: text, messages });
        return renderHtml(createHostileReport(text), {
          evidence: {
            iterations: [],
            traces: [{ ...trace, output: [{ startMs: 0, text }] }],
            definitions: [{ file: 'evals/weather.evals.yaml', line: 21, text }],
          },
        });
      }),
    ];
    for (const page of pages) {
      await using open = await openFilePage(browser, page);
      // Traces open inside of cases.
      for (const _ of ['cases', 'traces']) {
        await open.page.evaluate(
          'document.querySelectorAll("button[aria-expanded=false]").forEach((one) => one.click())',
        );
      }
      expect(await open.page.locator('.case .panel:visible').count()).toBeGreaterThan(1);
      expect(await open.page.locator(`#app :is(${active})`).count()).toBe(0);
      expect(await open.page.locator('script').count()).toBe(2);
      expect(open.complaints).toEqual([]);
    }
  });

  it('does not run injected scripts even if they get into the page', async () => {
    const broken = html.replace(
      '<footer>',
      '<img src="x" onerror="document.title=1"><script>document.title=2</script><footer>',
    );
    await using open = await openFilePage(browser, broken);
    expect(await open.page.title()).toBe('✗ Eval gate failed');
    expect(open.complaints.join('\n')).toContain('Content Security Policy');
  });
});
