import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rejudgeReport } from '../../../src/gate/judge/rejudge.ts';
import { listContradictions } from '../../../src/gate/plan/check-report.ts';
import { readReport } from '../../../src/gate/plan/read-report.ts';
import type { Report } from '../../../src/model/report.ts';
import { renderReportJson } from '../../../src/report/report-json.ts';
import { readPolicy } from '../../../src/suite/read-policy.ts';
import { parseReport } from '../../../src/report/report-json.ts';
import { damage, gateReports, listPlaces } from '../../support/gate/damaged-report.ts';
import { atLeast, createPolicy, createQuarantineEntry } from '../../support/factories/policy-factory.ts';
import { createModelsReport, largeModel, smallModel } from '../../support/factories/models-factory.ts';
import {
  createComparedReport,
  createFlakyReport,
  createGreenReport,
  createInconclusiveReport,
  createPolicyReport,
  createRedReport,
  createReport,
  createStoppedReport,
} from '../../support/factories/report-factory.ts';
import { createCaseResults, createSuiteResults } from '../../support/factories/results-factory.ts';
import { countDraws } from '../../support/property-runs.ts';
import { createWorkspace } from '../../support/workspace.ts';

const roundTrip = (report: Report): unknown => JSON.parse(renderReportJson(report));

const modelsPolicy = (text: string) => readPolicy(text, { file: 'policy.yaml' }).policy;

const judgeAgain = (report: Report): Report['verdict']['outcome'] =>
  rejudgeReport(report, { minimumPassRate: null, baseline: null, policy: null }).report.verdict.outcome;

/** Judges a damaged report; undefined if it is refused. */
function judgeDamaged(value: unknown): Report['verdict']['outcome'] | undefined {
  let report: Report;
  try {
    report = parseReport(value);
  } catch {
    return undefined;
  }
  return listContradictions(report).length > 0 ? undefined : judgeAgain(report);
}

describe('rejudgeReport', () => {
  const judgeBy = (text: string) => {
    const rules = { minimumPassRate: null, baseline: null, policy: modelsPolicy(text) };
    return rejudgeReport(createModelsReport(), rules).report;
  };

  it('applies the prices of a policy file, and else keeps those of the report', () => {
    const prices = `prices: { ${smallModel}: { input: 100, output: 0 }, ${largeModel}: { input: 0, output: 0 } }`;
    expect(judgeBy(`${prices}\ncurrency: EUR`).models).toMatchObject({ cost: 0.6, currency: 'EUR' });
    expect(judgeBy('minimumPassRate: 50%').models).toMatchObject({ cost: 0.0725, currency: 'USD' });
  });

  it('applies the rules of a policy file on models', () => {
    const outcomeBy = (text: string) => judgeBy(`${text}\nbudgets: { infrastructureErrors: 1 }`).verdict.outcome;
    expect(outcomeBy('minimumPassRate: 85%')).toBe('failed');
    expect(outcomeBy('minimumPassRate: 85%\npoolModels: true')).toBe('passed');
    expect(outcomeBy(`minimumPassRate: 85%\nmodels: { ${largeModel}: 80% }`)).toBe('passed');
  });
});

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
    ['models', createModelsReport()],
  ])('accepts the %s report', (_, report) => {
    expect(listContradictions(parseReport(roundTrip(report)))).toEqual([]);
  });

  it('accepts every report of a gate, and judges none anew otherwise when one field is damaged', () => {
    const seen = new Map<string, number>();
    const numRuns = countDraws(1000);
    fc.assert(
      fc.property(gateReports, fc.nat(), fc.nat(), (report, where, how) => {
        const written = roundTrip(report);
        expect(listContradictions(parseReport(written))).toEqual([]);
        const places = listPlaces(written);
        const place = places[where % places.length] ?? [];
        const outcome = judgeDamaged(damage(written, place, how));
        seen.set(String(outcome), (seen.get(String(outcome)) ?? 0) + 1);
        expect([place.join('.'), outcome ?? report.verdict.outcome]).toEqual([place.join('.'), report.verdict.outcome]);
      }),
      { numRuns },
    );
    // Often refused, but not always, because much of a report decides nothing.
    expect(seen.get('undefined')).toBeGreaterThan(numRuns / 10);
    expect(seen.get('passed')).toBeGreaterThan(0);
    expect(seen.get('failed')).toBeGreaterThan(0);
  });

  const failing = () =>
    createReport({
      policy: createPolicy(atLeast(1)),
      suites: [
        createSuiteResults({
          cases: [createCaseResults(), createCaseResults({ id: 'sum', title: 'Sums', passed: 0, failed: 3 })],
        }),
      ],
    });
  type Draft = { -readonly [Key in keyof Report]: Report[Key] };
  it.each<[string, (draft: Draft) => unknown, string]>([
    ['suites are emptied', (draft) => (draft.suites = []), 'the suites with results are not those that are listed'],
    [
      'no suite and no case is left',
      (draft) => ((draft.suites = []), (draft.cases = [])),
      'the suites with results are not those',
    ],
    ['a failing case is taken out', (draft) => draft.cases.shift(), 'cases[0].id is stated as "adds"'],
    ['a case is listed 21 times', (draft) => draft.cases.push(...Array(20).fill(draft.cases[0])), 'more than once'],
    [
      'a case was never planned',
      (draft) => Object.assign(draft.results[0]?.cases[0] ?? {}, { planned: 0 }),
      'with no iteration',
    ],
    ['the verdict is turned', (draft) => (draft.verdict = { outcome: 'passed', reasons: [] }), '"passed"'],
    [
      'it is inconclusive without reasons',
      (draft) => {
        draft.verdict = { outcome: 'inconclusive', reasons: [] };
        for (const suite of draft.suites) suite.verdict = draft.verdict;
      },
      'verdict.outcome is stated as "inconclusive"',
    ],
    [
      'the minimum is lowered',
      (draft) => Object.assign(draft.suites[0] ?? {}, { minimumPassRate: 0 }),
      'suites[0].minimumPassRate is stated as 0, and the results say 1',
    ],
    [
      'the policy is lowered',
      (draft) => Object.assign(draft.policy.suites[0] ?? {}, atLeast(0)),
      'verdict.outcome is stated as "failed"',
    ],
    [
      'the results are mended',
      (draft) => Object.assign(draft.results[0]?.cases[1] ?? {}, { passed: 3, failed: 0 }),
      'totals.passed is stated as 3, and the results say 6',
    ],
    [
      'a failure is taken for quarantined',
      (draft) => {
        const { owner, reason, expires, source } = createQuarantineEntry();
        Object.assign(draft.cases[0] ?? {}, { quarantine: { owner, reason, expires, source } });
      },
      'cases[0].quarantine is stated as',
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
        "why": "the report contradicts itself: totals.failed is stated as 0, and the results say 4",
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
