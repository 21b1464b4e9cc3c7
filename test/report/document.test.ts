import { describe, expect, it } from 'vitest';
import { createBehaviourReport } from '../support/factories/behaviour-factory.ts';
import type { Report } from '../../src/model/report.ts';
import { renderComment } from '../../src/report/comment.ts';
import type { Block } from '../../src/report/document/block.ts';
import { renderDocument } from '../../src/report/document/document.ts';
import { fit, ladder, screen, trim } from '../../src/report/document/fit.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { createHostileReport, createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';
import { parseRunnerLine } from '../support/runner/runner-commands.ts';
import { hostileTexts } from '../support/text/hostile-text.ts';
import { listActiveNodes } from '../support/text/markdown-tree.ts';

/** A report with every section, in which every external text is `text`. */
function createWholeReport(text: string): Report {
  const configuration = {
    name: text,
    bytes: 12,
    bytesBefore: 10,
    tools: [{ name: text, bytes: 12, bytesBefore: 10 }],
    changes: (['breaking', 'additive'] as const).map((severity) => ({
      id: text,
      severity,
      rule: text,
      reason: text,
      message: text,
      before: `${text}, before`,
      after: null,
      location: { file: text, line: 1 },
    })),
    findings: [{ id: text, rule: text, message: text, reason: text }],
  };
  const counts = { passed: 0, total: 4 };
  return {
    ...createHostileReport(text),
    notes: [text, text],
    behaviour: createBehaviourReport(text),
    surface: { against: text, unread: null, configurations: [configuration, configuration] },
    coverage: {
      unread: text,
      isPartial: true,
      unreadTraces: 1,
      items: [{ kind: 'tools', path: [text, text], isCovered: false }],
    },
    trend: { branch: text, runs: [{ startedAt: text, commit: text, outcome: 'passed', cases: 1, ...counts }] },
    baseComparison: {
      label: text,
      commit: null,
      seed: 7,
      problem: null,
      processes: 'iteration',
      isDecisive: true,
      confidence: 0.95,
      maximumRegressions: 0,
      maximumRateDrop: null,
      isWorse: true,
      newCases: 0,
      unpaired: 0,
      uncompared: [],
      rates: [],
      cases: [{ suiteId: text, id: text, title: text, base: counts, head: counts, broken: 1, fixed: 0, isWorse: true }],
    },
  };
}

/** Suites of that many cases, of which every other one failed. */
function createLargeReport(suites: number, cases: number): Report {
  return createReport({
    suites: Array.from({ length: suites }, (_, suite) =>
      createSuiteResults({
        suiteId: `suite-${suite}`,
        name: `Suite ${suite}`,
        cases: Array.from({ length: cases }, (_, index) =>
          createCaseResults({
            id: `case-${index}`,
            title: `Case ${index}`,
            ...(index % 2 === 0 ? {} : { passed: 0, failed: 1, failures: [createFailure()] }),
          }),
        ),
      }),
    ),
  });
}

const countItems = (blocks: readonly Block[]) =>
  blocks.reduce((sum, block) => sum + ('items' in block ? block.items.length : 1), 0);

describe('the document', () => {
  it('shows every section for a screen, and no foreign text has an effect in any of them', () => {
    const titles = ['Models', 'Against the base', 'Against the baseline', 'Tool surface', 'Coverage', 'Trend'];
    const plain = createWholeReport('plain');
    for (const title of titles) {
      expect(renderSummary(plain)).toContain(`### ${title}`);
      expect(renderTerminal(plain, { color: false })).toContain(`\n\n${title}`);
    }
    for (const text of hostileTexts) {
      const report = createWholeReport(text);
      // Most summaries fit, so that both are one page.
      const pages = new Set([
        renderSummary(report),
        renderSummary(report, { maxBytes: 20_000 }),
        renderComment(report),
      ]);
      expect([...pages].flatMap(listActiveNodes)).toEqual([]);
      const lines = renderTerminal(report, { color: false, columns: 80 }).split('\n');
      expect(lines.filter((line) => parseRunnerLine(line) !== null)).toEqual([]);
      expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
    }
  });

  it('explains a case that is not settled, and says that results of the base are kept', () => {
    const { baseComparison } = createWholeReport('x');
    const [item] = baseComparison?.cases ?? [];
    if (baseComparison === null || item === undefined) throw new Error('The report has no comparison.');
    const render = (isWorse: boolean, cached: number) =>
      renderSummary({
        ...createReport(),
        baseComparison: { ...baseComparison, cached, cases: [{ ...item, isWorse }] },
      });
    const settled = render(true, 0);
    const open = render(false, 3);
    expect(open).toContain('“Not settled”: it failed more often than the base, in too few rounds to call it worse.');
    expect(open).toContain('3 results of the base are kept from an earlier job');
    expect([settled.includes('Not settled'), settled.includes('kept from')]).toEqual([false, false]);
  });

  it('shows the old and the new text of a change, and repeats nothing that its message says', () => {
    const { surface } = createWholeReport('x');
    const [configuration] = surface?.configurations ?? [];
    const [change] = configuration?.changes ?? [];
    if (surface === undefined || configuration === undefined || change === undefined) throw new Error('No change.');
    const render = (message: string) => {
      const changes = [{ ...change, message, before: 'Finds a page', after: 'Finds every page' }];
      const report = { ...createReport(), surface: { ...surface, configurations: [{ ...configuration, changes }] } };
      return [renderSummary(report), renderComment(report), renderTerminal(report, { color: false })];
    };
    const [summary, comment, terminal] = render('The description changed');
    expect(summary).toContain('(- before, + after):\n\n```diff\n- Finds a page\n+ Finds every page\n```');
    expect([comment, terminal].map((text) => /- `?Finds a page[^]*\+ `?Finds every page/.test(text ?? ''))).toEqual([
      true,
      true,
    ]);
    expect(render('From Finds a page to Finds every page').join()).not.toContain('+ ');
  });

  it('says once what is the same of several tools, and apart what is not', () => {
    const reason = 'Hosts may run the tool without asking now; check that the hint is true.';
    const change = (tool: string, after = 'true') => ({
      id: `tool.${tool}.annotations.readOnlyHintChanged`,
      severity: 'review' as const,
      rule: 'hint-safer',
      message: `The annotation readOnlyHint of the tool ${tool} changed`,
      reason,
      before: null,
      after,
      location: null,
    });
    const sizes = { name: 'default', bytes: 12, bytesBefore: 10, tools: [] };
    const changes = [change('find'), change('list'), change('drop', 'false'), change('read')];
    const found = createBehaviourReport();
    const difference = (tool: string, id: string, after: string, pointer = '/structuredContent') => ({
      id,
      tool,
      pointer,
      before: '',
      after,
      session: [],
      case: '',
      message: 'it is new',
      kind: 'changed' as const,
      disposition: 'review' as const,
    });
    const differences = [
      difference('find', 'aaaaaaaaaaaa', '{"found":[]}'),
      difference('list', 'bbbbbbbbbbbb', '{"listed":[]}'),
      difference('list', 'cccccccccccc', '1', '/structuredContent/count'),
    ];
    const report = {
      ...createReport(),
      surface: { against: 'base', unread: null, configurations: [{ ...sizes, changes, findings: [] }] },
      behaviour: { ...found, compared: { ...found.compared!, differences } },
    };
    const texts = [renderSummary(report), renderComment(report), renderTerminal(report, { color: false })];
    for (const text of texts) {
      const plain = text.replaceAll('`', '').replaceAll(/\s+/g, ' ');
      expect(plain).toContain('The same for 2 more: list, read.');
      expect(plain).toMatch(/The same for list(?: \(bbbbbbbbbbbb\))?\./);
      expect(plain.split('annotation readOnlyHint').length - 1).toBe(2);
      expect(plain).toContain('/structuredContent/count');
    }
    expect(texts[0]?.match(/[a-c]{12}/g)).toEqual(
      expect.arrayContaining(['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc']),
    );
  });

  it('has fewer items at every step of the ladder, and counts the suites that it leaves out', () => {
    const sections = renderDocument(createLargeReport(30, 240));
    const counts = ladder.map((detail) => countItems(trim(sections, detail)));
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    expect(new Set(counts.slice(3)).size).toBe(ladder.length - 3);
    const hidden = ladder.map((detail) =>
      trim(sections, detail).flatMap((block) =>
        block.kind === 'text'
          ? block.line.filter((span) => typeof span === 'string' && /suites? not shown/.test(span))
          : [],
      ),
    );
    expect(hidden.flat()).toEqual([10, 20, 25, 30].map((count) => `${count} more suites not shown here.`));
  });

  it('names a case that is worse than the base once, in its row; a comment, which has no rows, names it in the sentence', () => {
    const { baseComparison } = createWholeReport('Adds twice');
    const report = { ...createReport(), baseComparison };
    expect(renderTerminal(report, { color: false }).split('Adds twice')).toHaveLength(3);
    expect(renderTerminal(report, { color: false })).toContain('): 1 of 1 case.');
    expect(renderComment(report)).toContain('): 1 of 1 case (`Adds twice`).');
  });

  it('has the suites that decided the verdict first', () => {
    const failed = createCaseResults({ passed: 0, failed: 3, failures: [createFailure()] });
    const suites = [
      createSuiteResults({ suiteId: 'good', name: 'Good' }),
      createSuiteResults({ suiteId: 'bad', name: 'Bad', cases: [failed] }),
    ];
    const report = createReport({ suites });
    for (const text of [renderSummary(report), renderTerminal(report, { color: false })]) {
      expect(text.search(/^(?:### ❌ `)?Bad/m)).toBeLessThan(text.search(/^(?:### ✅ `)?Good/m));
    }
  });

  it('counts passing cases that are too many for a screen', () => {
    const section = trim(renderDocument(createLargeReport(1, 60)), screen).find(({ kind }) => kind === 'passed');
    expect(section).toBeUndefined();
    expect(renderTerminal(createLargeReport(1, 60), { color: false })).toContain('\n  30 cases passed.\n');
  });
});

describe('fit', () => {
  it('takes the first detail whose text fits, and else the last', () => {
    const repeat = (count: number) => 'é'.repeat(count);
    expect(fit([9, 5, 2], 10, repeat)).toBe('ééééé');
    expect(fit([9, 5, 2], 3, repeat)).toBe('éé');
  });
});
