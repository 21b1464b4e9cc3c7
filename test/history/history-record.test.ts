import { describe, expect, it } from 'vitest';
import { buildTrend, findInHistory } from '../../src/history/lookup.ts';
import { parseHistory, renderHistoryLine } from '../../src/history/history-record.ts';
import { createHistoryRecord } from '../support/factories/history-factory.ts';
import {
  createHostileReport,
  createInconclusiveReport,
  createRedReport,
  createReport,
} from '../support/factories/report-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

describe('a line of the history', () => {
  it('is one small record', () => {
    const report = createReport({ revision: { commit: 'abc', branch: 'main' } });
    expect(renderHistoryLine(report)).toBe(
      '{"v":1,"time":"2026-09-21T12:00:00.000Z","commit":"abc","branch":"main","verdict":"passed","cases":[{"suite":"math","id":"adds","passed":3,"total":3,"hash":"5f2c1b0a9d8e7f60","ms":null}]}',
    );
  });

  it('marks iterations in which a recording answered', () => {
    const cases = [createCaseResults({ replayed: { passed: 2, total: 2 } })];
    const line = renderHistoryLine(createReport({ suites: [createSuiteResults({ cases })] }));
    expect(line).toContain('"passed":3,"total":3,"replayed":2,');
    expect(parseHistory(line).records[0]?.cases[0]?.replayed).toBe(2);
  });

  it('keeps what a model reads of each tool, where the surface was read', () => {
    const tool = { name: 'search', bytes: 120, bytesBefore: null };
    const configuration = { name: 'default', bytes: 120, bytesBefore: null, tools: [tool], changes: [], findings: [] };
    const surface = { against: 'surface.json', unread: null, configurations: [configuration] };
    const line = renderHistoryLine(createReport({ surface }));
    expect(line).toContain('"tools":{"search":120}');
    const { records } = parseHistory(line);
    expect(buildTrend(records, null).runs[0]?.toolBytes).toEqual({ search: 120 });
    const both = { ...surface, configurations: [configuration, { ...configuration, name: 'full' }] };
    expect(renderHistoryLine(createReport({ surface: both }))).toContain('{"default/search":120,"full/search":120}');
    const unread = { ...surface, unread: 'no tools today', configurations: [] };
    expect(renderHistoryLine(createReport({ surface: unread }))).not.toContain('tools');
  });

  it('keeps what the model calls of a case cost, where that is known', () => {
    const report = createReport({ suites: [createSuiteResults({ cases: [createCaseResults()] })] });
    const priced = { ...report, cases: report.cases.map((testCase) => ({ ...testCase, cost: 0.25 })) };
    expect(renderHistoryLine(priced)).toContain('"ms":null,"cost":0.25}');
    expect(parseHistory(renderHistoryLine(priced)).records[0]?.cases[0]?.cost).toBe(0.25);
    expect(renderHistoryLine(report)).not.toContain('cost');
  });

  it.each([createReport(), createRedReport(), createInconclusiveReport(), createHostileReport('a\nb\u2028##[x]"')])(
    'reads back as what it was written from',
    (report) => {
      const line = renderHistoryLine(report);
      expect(line).not.toContain('\n');
      const { records, skipped } = parseHistory(`${line}\n`);
      expect(skipped).toBe(0);
      expect(records).toEqual([
        {
          startedAt: report.startedAt,
          commit: null,
          branch: null,
          outcome: report.verdict.outcome,
          cases: report.cases.map(({ suiteId, id, passed, total, replayed, definitionHash, durationMs }) => {
            return { suiteId, id, passed, total, replayed: replayed.total, definitionHash, durationMs };
          }),
        },
      ]);
    },
  );
});

describe('parseHistory', () => {
  const line = renderHistoryLine(createReport());

  it('skips a last line that was cut off, wherever that was', () => {
    for (let length = 1; length < line.length; length += 7) {
      expect(parseHistory(`${line}\n${line}\n${line.slice(0, length)}`)).toMatchObject({
        records: [{}, {}],
        skipped: 1,
      });
    }
  });

  it('counts lines of another version and lines that are no record as skipped, but not empty ones', () => {
    const text = `\n${line.replace('"v":1', '"v":2')}\n<<<<<<< HEAD\r\n\n${line}\r\n[]\n`;
    expect(parseHistory(text)).toMatchObject({
      records: [{}],
      skipped: 3,
      firstSkipped: { line: 2, why: 'has version 2 of the format, and this program reads version 1' },
    });
    expect(parseHistory('\n[]').firstSkipped).toEqual({ line: 2, why: 'is no record of a gate' });
    expect(parseHistory('<<<').firstSkipped).toEqual({ line: 1, why: 'is no JSON' });
    expect(parseHistory('')).toEqual({ records: [], skipped: 0, firstSkipped: null });
  });
});

describe('buildTrend', () => {
  it('takes the last gates of the branch and adds up their cases', () => {
    const records = [
      createHistoryRecord({ branch: 'other' }),
      ...Array.from({ length: 40 }, (_, index) => createHistoryRecord({ commit: `c${index}` })),
    ];
    const { branch, runs } = buildTrend(records, 'main');
    expect([branch, runs.length, runs[0]?.commit]).toEqual(['main', 30, 'c10']);
    expect(runs[0]).toMatchObject({ outcome: 'passed', cases: 2, total: 4, passed: 3 });
    expect(buildTrend(records, null).runs).toEqual([]);
  });
});

describe('findInHistory', () => {
  const commit = '0123456789abcdef';
  const records = [
    createHistoryRecord({ startedAt: '1', commit }),
    createHistoryRecord({ startedAt: '2', outcome: 'failed', commit: 'f'.repeat(40) }),
    createHistoryRecord({ startedAt: '3', outcome: 'inconclusive', commit }),
    createHistoryRecord({ startedAt: '4', branch: 'PR 7', commit: null }),
  ];

  it.each([
    ['branch:main', '2'],
    ['branch:PR 7', '4'],
    ['commit:0123456', '1'],
    [`commit:${commit}`, '1'],
  ])('finds %s, the newest that established something', (source, startedAt) => {
    expect(findInHistory(records, source)).toMatchObject({ source, startedAt, cases: [{ title: null }, {}] });
  });

  it.each(['branch:next', 'branch:ma', 'commit:1234567', 'commit:0123456789abcdef0'])('does not find %s', (source) => {
    expect(findInHistory(records, source)).toBeUndefined();
  });
});
