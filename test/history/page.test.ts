import { describe, expect, it } from 'vitest';
import { renderHistoryPage } from '../../src/history/page.ts';
import { summarizeHistory } from '../../src/history/summarize.ts';
import type { HistoryCase, HistoryRecord } from '../../src/model/history.ts';
import { createHistoryRecord } from '../support/factories/history-factory.ts';

const result = (id: string, passed: number, more: Partial<HistoryCase> = {}): HistoryCase => ({
  suiteId: 'math',
  id,
  passed,
  total: 2,
  replayed: 0,
  definitionHash: 'a',
  durationMs: 100,
  ...more,
});
/** A gate for each list of cases, a day apart. */
const gates = (...days: HistoryCase[][]): HistoryRecord[] =>
  days.map((cases, index) => createHistoryRecord({ startedAt: `2026-09-${10 + index}T03:00:00.000Z`, cases }));
const render = (records: readonly HistoryRecord[]) =>
  renderHistoryPage(summarizeHistory(records, 'main'), {
    linkCommit: (commit) => `https://github.com/octo/server/commit/${commit}?a="b"`,
    currency: 'USD',
  });

describe('summarizeHistory', () => {
  it('measures each suite per gate, with an interval, latency and cost', () => {
    const records = gates([result('a', 2, { cost: 0.5 }), result('b', 1, { durationMs: 300 })], [result('a', 2)]);
    const { suites } = summarizeHistory([...records, createHistoryRecord({ branch: 'PR 1' })], 'main');
    expect(suites).toMatchObject([
      {
        id: 'math',
        points: [
          { passed: 3, total: 4, durationMs: 200, cost: 0.5 },
          { passed: 2, total: 2, durationMs: 100, cost: null },
        ],
      },
    ]);
    const interval = suites[0]?.points[0]?.interval;
    expect(interval?.rate).toBe(0.75);
    expect(interval!.lower < 0.75 && interval!.upper > 0.75).toBe(true);
  });

  it.each([
    ['is stable when it always passes', [2, 2, 2], { isFlaky: false, mixedGates: 0, flips: 0 }],
    ['is no flaky case when it broke once', [2, 2, 0], { isFlaky: false, flips: 1 }],
    ['is flaky when it broke and passes again', [2, 0, 2], { isFlaky: true, flips: 2 }],
    ['is flaky when a gate has both results', [2, 2, 1], { isFlaky: true, mixedGates: 1 }],
  ])('says of a case that it %s', (_, passed, expected) => {
    const records = gates(...passed.map((count) => [result('a', count)]));
    expect(summarizeHistory(records, 'main').suites[0]?.cases).toMatchObject([expected]);
  });

  it('judges a case by its present definition alone, and names cases that no longer run last', () => {
    const records = gates(
      [result('a', 1), result('gone', 0)],
      [result('a', 2, { definitionHash: 'b' }), result('fails', 0)],
    );
    expect(summarizeHistory(records, 'main').suites[0]?.cases).toMatchObject([
      { id: 'fails' },
      { id: 'a', isFlaky: false, passed: 2, total: 2 },
      { id: 'gone', isCurrent: false },
    ]);
  });

  it('lists what changed between conclusive gates, newest first', () => {
    const records = [
      ...gates([result('a', 2), result('b', 0), result('gone', 2)]).map((each) => ({
        ...each,
        toolBytes: { x: 1, y: 2 },
      })),
      createHistoryRecord({ outcome: 'inconclusive', cases: [] }),
      ...gates([result('a', 1), result('b', 2, { definitionHash: 'n' }), result('new', 2)]).map((each) => ({
        ...each,
        toolBytes: { x: 3, z: 4 },
      })),
      ...gates([result('a', 1), result('b', 2, { definitionHash: 'n' }), result('new', 2)]),
    ];
    expect(summarizeHistory(records, 'main').changes).toMatchObject([
      {
        broken: ['a'],
        fixed: ['b'],
        added: ['new'],
        removed: ['gone'],
        redefined: ['b'],
        tools: [
          { name: 'x', before: 1, after: 3 },
          { name: 'y', before: 2, after: null },
          { name: 'z', before: null, after: 4 },
        ],
      },
    ]);
  });
});

describe('renderHistoryPage', () => {
  it('escapes foreign text, links commits, and loads and runs nothing', () => {
    const hostile = '"><script>alert(1)</script>\u202Egnp';
    const page = render(gates([result(hostile, 2)], [result(hostile, 0, { suiteId: hostile })]));
    expect(page).not.toMatch(/<script|\u202E| on\w+=/);
    expect(page).toContain('&lt;script&gt;');
    expect(page).toContain('/commit/0123456789abcdef0123456789abcdef01234567?a=&quot;b&quot;"');
    expect(page).toContain("default-src 'none'");
    const bad = gates([result('a', 2)]).map((each) => ({ ...each, commit: '"><b>', startedAt: '<i>' }));
    expect(render(bad)).not.toMatch(/<i>|"><b>/);
  });

  it('renders a history in which nothing is scored, or a single gate', () => {
    expect(render(gates([result('a', 0, { total: 0, durationMs: null })]))).toContain('Nothing changed');
    expect(render(gates([result('a', 0, { total: 0, durationMs: null })]))).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('stays small for the longest history', () => {
    const cases = Array.from({ length: 1000 }, (_, index) => result(`case-${index}`, index % 7 === 0 ? 1 : 2));
    const page = render(gates(...Array.from({ length: 100 }, () => cases)));
    expect(page.length).toBeLessThan(600_000);
    expect(page).toContain('and 500 more cases');
  });
});
