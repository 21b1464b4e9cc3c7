import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rejudgeReport } from '../../../src/gate/judge/rejudge.ts';
import { listContradictions } from '../../../src/gate/plan/check-report.ts';
import { readReport } from '../../../src/gate/plan/read-report.ts';
import type { FlakyEffect } from '../../../src/model/policy.ts';
import type { Report } from '../../../src/model/report.ts';
import { renderReportJson } from '../../../src/report/json.ts';
import { parseReport } from '../../../src/report/schema.ts';
import { compareWithBaseline, settleComparison } from '../../../src/verdict/compare.ts';
import { createBaseline, createBaselineCase } from '../../support/baseline-factory.ts';
import { createPolicy, createQuarantineEntry, demanded } from '../../support/policy-factory.ts';
import {
  createComparedReport,
  createFlakyReport,
  createGreenReport,
  createInconclusiveReport,
  createPolicyReport,
  createRedReport,
  createReport,
  createStoppedReport,
} from '../../support/report-factory.ts';
import { suiteResults } from '../../support/results-arbitrary.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../../support/results-factory.ts';
import { createWorkspace } from '../../support/workspace.ts';

const ids = ['case-0', 'case-1', 'case-2'];
const rate = fc.constantFrom(0.5, 0.8, 1);

const policies = fc
  .record({
    flaky: fc.constantFrom<FlakyEffect>('fail', 'pass', 'report'),
    tag: fc.option(rate, { nil: null }),
    minimum: fc.option(fc.record({ id: fc.constantFrom(...ids), rate }), { nil: null }),
    required: fc.subarray(ids),
    quarantined: fc.option(fc.constantFrom(...ids), { nil: null }),
  })
  .map(({ flaky, tag, minimum, required, quarantined }) =>
    createPolicy({
      flaky: demanded(flaky),
      tags: tag === null ? [] : [{ name: 'smoke', ...demanded(tag) }],
      cases: minimum === null ? [] : [{ name: minimum.id, ...demanded(minimum.rate) }],
      required: required.map((name) => ({ name, ...demanded(true as const) })),
      quarantine: quarantined === null ? [] : [createQuarantineEntry({ case: quarantined })],
    }),
  );

/** Reports as gates write them, of every outcome, with policies and with a baseline or without. */
const reports: fc.Arbitrary<Report> = fc
  .tuple(suiteResults, suiteResults, policies, fc.boolean(), fc.nat({ max: 2 }))
  .map(([first, second, policy, isCompared, maximumRegressions]) => {
    const suites = [first, second].map((suite, index) => ({
      ...suite,
      suiteId: `suite-${index}`,
      cases: suite.cases.map((member, line) => ({
        ...member,
        // A plan asks for one iteration at least.
        planned: Math.max(1, member.planned),
        title: `Case ${line}`,
        tags: line === 0 ? ['smoke'] : [],
        location: { file: 'x', line: line + 1, column: 1 },
        failures: member.failed > 0 ? [createFailure()] : [],
      })),
    }));
    const baseline = createBaseline(
      suites.flatMap(({ suiteId, cases }) =>
        cases.map(({ id, definitionHash }) => createBaselineCase({ suiteId, id, passed: 3, total: 3, definitionHash })),
      ),
    );
    const effect = policy.demands.flaky.value;
    const settled = settleComparison(
      baseline,
      suites.map((results) => ({ results, effect })),
    );
    const limits = { maximumRegressions, maximumRateDrop: null };
    const comparison = isCompared ? compareWithBaseline(settled.baseline, settled.results, limits) : null;
    return createReport({ suites, policy, comparison });
  });

const roundTrip = (report: Report): unknown => JSON.parse(renderReportJson(report));

const judgeAgain = (report: Report): Report['verdict']['outcome'] =>
  rejudgeReport(report, {
    minimumPassRate: null,
    baseline: null,
    maximumRegressions: null,
    maximumRateDrop: null,
    policy: null,
    effects: { onInconclusive: null, onNothingRun: null, reportOnly: null },
  }).report.verdict.outcome;

type Place = Array<string | number>;

/** Every value in a report that is neither an object nor a list, and every list that has something in it. */
function listPlaces(value: unknown, place: Place = []): Place[] {
  if (Array.isArray(value)) {
    return [
      ...(value.length > 0 ? [place] : []),
      ...value.flatMap((each, index) => listPlaces(each, [...place, index])),
    ];
  }
  if (typeof value !== 'object' || value === null) return [place];
  return Object.entries(value).flatMap(([key, each]) => listPlaces(each, [...place, key]));
}

function damage(value: unknown, [key, ...rest]: Place, how: number): unknown {
  if (key === undefined) return damageValue(value, how);
  if (Array.isArray(value)) return value.map((each, index) => (index === key ? damage(each, rest, how) : each));
  return { ...(value as object), [key]: damage((value as Record<string, unknown>)[key], rest, how) };
}

const outcomes = ['passed', 'failed', 'inconclusive'];

function damageValue(value: unknown, how: number): unknown {
  if (Array.isArray(value)) return how % 2 === 0 ? value.slice(1) : [...value, value[0]];
  if (typeof value === 'number') return [value + 1, value - 1, 0, value / 2, -value, 2 ** 31][how % 6];
  if (typeof value === 'boolean') return !value;
  if (value === null) return [0, '', false, []][how % 4];
  if (typeof value !== 'string') return 0;
  const others = outcomes.filter((outcome) => outcome !== value);
  return others.length < 3 ? others[how % 2] : [`${value}x`, '', null][how % 3];
}

/** Undefined where the report is refused. */
function judgeDamaged(value: unknown): Report['verdict']['outcome'] | undefined {
  let report: Report;
  try {
    report = parseReport(value);
  } catch {
    return undefined;
  }
  return listContradictions(report).length > 0 ? undefined : judgeAgain(report);
}

describe('the check of a report', () => {
  it.each([
    ['green', createGreenReport()],
    ['red', createRedReport()],
    ['compared', createComparedReport()],
    ['inconclusive', createInconclusiveReport()],
    ['policy', createPolicyReport()],
    ['flaky, failing', createFlakyReport('fail')],
    ['flaky, passing', createFlakyReport('pass')],
    ['flaky, reported', createFlakyReport('report')],
    ['stopped', createStoppedReport()],
  ])('accepts the %s report', (_, report) => {
    expect(listContradictions(parseReport(roundTrip(report)))).toEqual([]);
  });

  it('accepts every report of a gate, and judges none anew otherwise when one field is damaged', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(reports, fc.nat(), fc.nat(), (report, where, how) => {
        const written = roundTrip(report);
        expect(listContradictions(parseReport(written))).toEqual([]);
        const places = listPlaces(written);
        const place = places[where % places.length] ?? [];
        const outcome = judgeDamaged(damage(written, place, how));
        seen.set(String(outcome), (seen.get(String(outcome)) ?? 0) + 1);
        expect([place.join('.'), outcome ?? report.verdict.outcome]).toEqual([place.join('.'), report.verdict.outcome]);
      }),
      { numRuns: 1000 },
    );
    // Refused often, and not always: much of a report decides nothing.
    expect(seen.get('undefined')).toBeGreaterThan(100);
    expect(seen.get('passed')).toBeGreaterThan(0);
    expect(seen.get('failed')).toBeGreaterThan(0);
  });

  const failing = () =>
    createReport({
      suites: [
        createSuiteResults({
          minimumPassRate: 1,
          cases: [createCaseResults(), createCaseResults({ id: 'sum', title: 'Sums', passed: 0, failed: 3 })],
        }),
      ],
    });
  type Draft = { -readonly [Key in keyof Report]: Report[Key] };
  it.each<[string, (draft: Draft) => unknown, string]>([
    ['suites are emptied', (draft) => (draft.suites = []), 'the suite "math", which is not listed'],
    ['no suite and no case is left', (draft) => ((draft.suites = []), (draft.cases = [])), 'the verdict is stated as'],
    ['a failing case is taken out', (draft) => draft.cases.shift(), 'totals'],
    ['a case is listed 21 times', (draft) => draft.cases.push(...Array(20).fill(draft.cases[0])), 'more than once'],
    ['a case was never planned', (draft) => Object.assign(draft.cases[0] ?? {}, { planned: 0 }), 'with no iteration'],
    ['the verdict is turned', (draft) => (draft.verdict = { outcome: 'passed', reasons: [] }), '"passed"'],
    [
      'it is inconclusive without reasons',
      (draft) => {
        draft.verdict = { outcome: 'inconclusive', reasons: [] };
        for (const suite of draft.suites) suite.verdict = draft.verdict;
      },
      'without a reason',
    ],
    [
      'the minimum is lowered',
      (draft) => Object.assign(draft.suites[0] ?? {}, { minimumPassRate: 0 }),
      'another minimum',
    ],
    [
      'a failure is taken for quarantined',
      (draft) => {
        const { owner, reason, expires, source } = createQuarantineEntry();
        Object.assign(draft.cases[0] ?? {}, { quarantine: { owner, reason, expires, source } });
      },
      'totals',
    ],
  ])('refuses a report in which %s', (_, forge, message) => {
    const draft = structuredClone<Draft>(parseReport(roundTrip(failing())));
    forge(draft);
    expect(listContradictions(draft).join('; ')).toContain(message);
  });
});

describe('readReport', () => {
  const read = async (text: string) => {
    await using workspace = await createWorkspace();
    await writeFile(join(workspace.path, 'report.json'), text);
    return await readReport(workspace.path);
  };

  it('reads what a gate wrote, and says in a sentence why it refuses what was edited', async () => {
    const report = createRedReport();
    expect(await read(renderReportJson(report))).toMatchObject({ kind: 'report' });
    const edited = { ...report, totals: { ...report.totals, failed: 0 } };
    expect(await read(JSON.stringify(edited))).toMatchInlineSnapshot(`
      {
        "kind": "bad",
        "why": "the report contradicts itself: the totals are stated as {"cases":3,"iterations":11,"passed":7,"failed":0,"passRate":0.6363636363636364}, and the results say {"cases":3,"iterations":11,"passed":7,"failed":4,"passRate":0.6363636363636364}",
      }
    `);
  });

  it.each([
    [
      'a number of shards that would fill the memory',
      { shard: { index: 1, total: 2 ** 31, digest: 'd' } },
      /shard\.total/,
    ],
    ['a count beyond any gate', { totals: { ...createReport().totals, cases: 2 ** 40 } }, /totals\.cases/],
  ])('refuses %s', async (_, fields, why) => {
    const found = await read(JSON.stringify({ ...createReport(), ...fields }));
    expect(found).toMatchObject({ kind: 'bad', why: expect.stringMatching(why) });
  });

  it('refuses a report that is nested without end', async () => {
    const text = JSON.stringify(createReport()).replace(
      '"notes":[]',
      `"notes":${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    );
    expect(await read(text)).toEqual({ kind: 'bad', why: 'it is nested deeper than 200 levels' });
  });
});
