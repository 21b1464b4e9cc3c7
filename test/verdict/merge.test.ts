import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BaseComparison } from '../../src/model/base-comparison.ts';
import { emptyPolicyLayer, type FlakyEffect } from '../../src/model/policy.ts';
import type { Report } from '../../src/model/report.ts';
import type { VerdictReason } from '../../src/model/verdict.ts';
import { listContradictions } from '../../src/gate/plan/check-report.ts';
import type { SuiteResults } from '../../src/model/results.ts';
import { noModelUsage } from '../../src/model/usage.ts';
import { buildReport } from '../../src/report/build.ts';
import { parseReport, renderReportJson } from '../../src/report/report-json.ts';
import { judgeGate } from '../../src/verdict/judge-gate.ts';
import { joinShards } from '../../src/verdict/merge.ts';
import { atLeast, createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createRun, createSuiteResults } from '../support/factories/results-factory.ts';
import { createShardReports, sealShards } from '../support/factories/shard-factory.ts';
import { countDraws } from '../support/property-runs.ts';

const label = (reports: readonly Report[]) =>
  reports.map((report, index) => ({ label: `shards/${index + 1}`, report }));
const join = (reports: readonly Report[]) => joinShards(label(reports));
const judge = ({ results, policy }: ReturnType<typeof join>['joined']) => judgeGate(results, policy);
/** The report of the joined gate. */
const mergeReports = ({ results, policy }: ReturnType<typeof join>['joined']) => {
  const { exit, ...judged } = judgeGate(results, policy);
  return buildReport({ ...createReport(), policy, ...judged, stopsJob: exit.exitCode !== 0 });
};

const small = fc.nat({ max: 4 });
const counts = fc
  .record({
    passed: small,
    failed: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, small),
    unscored: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, small),
    isRequired: fc.boolean(),
    retries: fc.array(fc.constantFrom({ passed: 0, total: 1 }, { passed: 1, total: 1 }), { maxLength: 1 }),
  })
  .map((draw) => ({ ...draw, retries: draw.failed === 0 ? [] : draw.retries }))
  .filter(({ passed, failed, unscored }) => passed + failed + unscored > 0);

const suites = fc
  .array(fc.tuple(fc.array(counts, { minLength: 1, maxLength: 5 }), fc.constantFrom(0, 0.5, 0.8, 1)), {
    minLength: 1,
    maxLength: 3,
  })
  .map((draws) =>
    draws.map(([members, minimum], suiteIndex) => {
      const cases = members.map((member, line) =>
        createCaseResults({ ...member, id: `case-${line}`, location: { file: 'x', line, column: 1 } }),
      );
      return { minimum, results: createSuiteResults({ suiteId: `suite-${suiteIndex}`, cases }) };
    }),
  );

const createBaseComparison = (commit: string | null, problem: string | null): BaseComparison => ({
  label: 'main',
  commit,
  seed: 1,
  problem,
  processes: 'iteration',
  uncompared: [],
  isDecisive: true,
  confidence: 0.95,
  maximumRegressions: 0,
  maximumRateDrop: null,
  isWorse: false,
  newCases: 0,
  unpaired: 0,
  rates: [],
  cases: [],
});

describe('joinShards', () => {
  it('gives the verdict of the whole, however it was divided', () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(suites, fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 5, maxLength: 5 }), (drawn, picks) => {
        const results = drawn.map((suite) => suite.results);
        const policy = ({ suiteId }: SuiteResults) =>
          createPolicy(atLeast(drawn.find((suite) => suite.results.suiteId === suiteId)?.minimum ?? 1));
        const whole = createReport({ suites: results, policy });
        const shards = createShardReports(results, 3, (caseIndex) => picks[caseIndex] ?? 1, policy);
        const { joined, problems } = join(shards);
        expect(problems).toEqual([]);
        const { verdict } = judge(joined);
        outcomes.add(verdict.outcome);
        // Suites are in the order in which the shards have them.
        const list = (reasons: readonly VerdictReason[]) => reasons.map((reason) => JSON.stringify(reason)).toSorted();
        expect([verdict.outcome, list(verdict.reasons)]).toEqual([whole.verdict.outcome, list(whole.verdict.reasons)]);
        const merged = mergeReports(joined);
        expect(listContradictions(parseReport(JSON.parse(renderReportJson(merged))))).toEqual([]);
        expect(merged.totals).toEqual(whole.totals);
        const byId = (report: Report) => Map.groupBy(report.cases, ({ suiteId, id }) => `${suiteId}/${id}`);
        expect(byId(merged)).toEqual(byId(whole));
      }),
      { numRuns: countDraws(1000) },
    );
    expect([...outcomes].toSorted()).toEqual(['failed', 'inconclusive', 'passed']);
  });

  const cases = ['a', 'b', 'c'].map((id) => createCaseResults({ id }));
  const shards = createShardReports([createSuiteResults({ cases })], 3, (caseIndex) => caseIndex + 1);
  const [first, second, third] = shards as [Report, Report, Report];

  it('takes as long as from the first start to the last end', () => {
    const later = { ...second, startedAt: '2026-09-21T12:01:00.000Z', durationMs: 5000 };
    expect(join([later, first, third]).joined).toMatchObject({
      startedAt: '2026-09-21T12:00:00.000Z',
      durationMs: 65_000,
    });
  });

  it('stays inconclusive where one shard is, with its reasons', () => {
    const broken = createReport({
      suites: [
        createSuiteResults({
          cases: cases.slice(1, 2),
          interruption: { code: 'server-lost', message: 'The server died.' },
          run: createRun({ status: 'cancelled' }),
        }),
      ],
      shard: second.shard,
    });
    const { joined, problems } = join([first, broken, third]);
    expect(problems).toEqual([]);
    expect(judge(joined).suites.map(({ verdict }) => verdict)).toEqual([
      { outcome: 'inconclusive', reasons: [{ code: 'server-lost', message: 'The server died.', suiteId: 'math' }] },
    ]);
  });

  it('fails if a shard that never ran could not change the verdict', () => {
    const suite = createSuiteResults({ cases: [createCaseResults({ id: 'a', passed: 0, failed: 9 })] });
    const ranNothing = (failed: number) =>
      createReport({
        suites: [
          createSuiteResults({
            cases: [createCaseResults({ id: 'b', passed: 0, failed, planned: 1 + failed })],
            interruption: { code: 'server-lost', message: 'The server died.' },
            run: null,
          }),
        ],
        shard: { index: 2, total: 2, digest: '' },
      });
    const judgeWith = (failed: number) => {
      const first = createReport({ suites: [suite], shard: { index: 1, total: 2, digest: '' } });
      const { joined, problems } = join(sealShards([first, ranNothing(failed)]));
      expect(problems).toEqual([]);
      return judge(joined).suites.map(({ verdict }) => verdict.outcome);
    };
    expect(judgeWith(0)).toEqual(['failed']);
    // Here failures are in doubt, since they may come from the server's loss.
    expect(judgeWith(1)).toEqual(['inconclusive']);
  });

  it.each<[string, (suite: SuiteResults) => SuiteResults]>([
    ['lacks a case', (suite) => ({ ...suite, cases: suite.cases.slice(1) })],
    [
      'ran a case less often',
      (suite) => ({ ...suite, cases: suite.cases.map((each) => ({ ...each, planned: 1, passed: 1 })) }),
    ],
    [
      'has another definition',
      (suite) => ({ ...suite, cases: suite.cases.map((each) => ({ ...each, definitionHash: 'f'.repeat(16) })) }),
    ],
  ])('refuses a shard that %s than what was cut, although it agrees with itself', (_, change) => {
    const suite = createSuiteResults({ cases: ['d', 'e', 'f', 'g'].map((id) => createCaseResults({ id })) });
    const cut = createShardReports([suite], 2, (caseIndex) => 1 + (caseIndex % 2));
    expect(join(cut).problems).toEqual([]);
    const changed = change({ ...suite, cases: suite.cases.filter((_each, index) => index % 2 === 0) });
    const iterationsRead = changed.cases.reduce((total, { passed }) => total + passed, 0);
    const run = createRun({ summary: { total: iterationsRead, passed: iterationsRead, failed: 0 } });
    const forged = createReport({ suites: [{ ...changed, iterationsRead, run }], shard: cut[0]?.shard ?? null });
    expect([forged.verdict.outcome, listContradictions(forged)]).toEqual(['passed', []]);
    expect(join([forged, ...cut.slice(1)]).problems).toEqual([
      `the cases of the reports are not those that were cut (digest ${cut[0]?.shard?.digest} in shards/1 and the others): one was added, removed or changed since; run the shards again`,
    ]);
  });

  it('keeps one copy of a finding that every shard has about the change', () => {
    const reason = { code: 'suite-removed', message: 'The suite is gone.' } as const;
    const suites = ['a', 'b'].map((id) => createSuiteResults({ suiteId: id, cases: [createCaseResults({ id })] }));
    const shards = suites.map((suite, position) =>
      createReport({
        suites: [suite],
        lowered: [reason],
        shard: { index: position + 1, total: 2, digest: '' },
      }),
    );
    const { joined, problems } = join(sealShards(shards));
    expect(problems).toEqual([]);
    expect(judge(joined).suites.map(({ verdict }) => verdict)).toEqual([
      { outcome: 'failed', reasons: [{ ...reason, suiteId: 'a' }] },
      { outcome: 'passed', reasons: [expect.objectContaining({ code: 'minimum-met' })] },
    ]);
  });

  it('judges over all shards what a policy requires of a tag and of a budget', () => {
    const members = ['a', 'b'].map((id) =>
      createCaseResults({
        id,
        tags: ['smoke'],
        passed: id === 'a' ? 3 : 1,
        failed: id === 'a' ? 0 : 2,
        tokensUsed: 60,
      }),
    );
    const judgeUnder = (tag: number, tokens: number) => {
      const budgets = { ...emptyPolicyLayer.budgets, tokens: ofPolicy(tokens) };
      const tags = [{ name: 'smoke', ...ofPolicy(tag) }];
      const policy = createPolicy({ ...atLeast(0), tags, budgets });
      const suite = createSuiteResults({ cases: members });
      const { joined, problems } = join(createShardReports([suite], 2, (caseIndex) => caseIndex + 1, policy));
      expect(problems).toEqual([]);
      return judge(joined).verdict.reasons.map(({ code }) => code);
    };
    expect(judgeUnder(0.6, 120)).toEqual(['minimum-met']);
    expect(judgeUnder(0.7, 120)).toEqual(['tag-below-minimum']);
    expect(judgeUnder(0.6, 119)).toEqual(['budget-exceeded']);
  });

  it('judges over all shards what a policy requires of models and their cost', () => {
    const members = ['a/small', 'b/large', 'a/small'].map((model, index) =>
      createCaseResults({
        id: `c${index}`,
        model,
        passed: index === 2 ? 1 : 3,
        failed: index === 2 ? 2 : 0,
        usage: { ...noModelUsage, modelCalls: 3, inputTokens: 1_000_000 },
      }),
    );
    const prices = ['a/small', 'b/large'].map((name) => ({
      name,
      ...ofPolicy({ input: 1, cachedInput: 1, output: 1 }),
    }));
    const judgeUnder = (model: number, cost: number) => {
      const budgets = { ...emptyPolicyLayer.budgets, cost: ofPolicy(cost) };
      const models = [{ name: 'a/small', ...ofPolicy(model) }];
      const policy = createPolicy({ ...atLeast(0), models, budgets });
      const suite = createSuiteResults({ cases: members });
      const shards = createShardReports([suite], 2, (caseIndex) => 1 + Number(caseIndex > 0), policy);
      const { joined, problems } = join(shards.map((shard) => ({ ...shard, policy: { ...shard.policy, prices } })));
      expect(problems).toEqual([]);
      const { verdict, models: summary } = judge(joined);
      expect(summary).toMatchObject({
        cost: 3,
        models: [
          { passed: 4, total: 6, cost: 2 },
          { passed: 3, cost: 1 },
        ],
      });
      return verdict.reasons.map(({ code }) => code);
    };
    expect(judgeUnder(0.6, 3)).toEqual(['minimum-met']);
    expect(judgeUnder(0.7, 3)).toEqual(['model-below-minimum']);
    expect(judgeUnder(0.6, 2.9)).toEqual(['budget-exceeded']);
  });

  it('refuses shards with different prices', () => {
    const priced = { ...second, policy: { ...second.policy, currency: { value: 'EUR', source: 'policy.yaml:1' } } };
    expect(join([first, priced, third]).problems).toEqual(['shards/2 has another table of prices than shards/1']);
  });

  it('keeps the requirements that each shard has of its own cases', () => {
    const members = ['a', 'b'].map((id) => createCaseResults({ id, passed: 1, failed: id === 'b' ? 1 : 0 }));
    const shards = members.map((member, position) => {
      const required = [{ name: member.id, ...ofPolicy(true as const) }];
      return createReport({
        policy: createPolicy({ ...atLeast(0), required }),
        suites: [createSuiteResults({ cases: [member] })],
        shard: { index: position + 1, total: 2, digest: '' },
      });
    });
    const { joined, problems } = join(sealShards(shards));
    expect(problems).toEqual([]);
    expect(judge(joined).verdict.reasons.map(({ code, caseId }) => [code, caseId])).toEqual([['required-failed', 'b']]);
  });

  it('holds each run to the wall time alone, since shards run next to each other', () => {
    const members = ['a', 'b'].map((id) => createCaseResults({ id }));
    const judgeUnder = (wallTimeMs: number) => {
      const budgets = { ...emptyPolicyLayer.budgets, wallTimeMs: ofPolicy(wallTimeMs) };
      const suite = createSuiteResults({ cases: members });
      const shards = createShardReports([suite], 2, (caseIndex) => caseIndex + 1, createPolicy({ budgets }));
      return judge(join(shards).joined).verdict.outcome;
    };
    expect([judgeUnder(12_000), judgeUnder(11_999)]).toEqual(['passed', 'failed']);
  });

  const [results] = second.results;
  const withMinimum = (value: number): Report => ({
    ...second,
    policy: {
      ...second.policy,
      suites: second.policy.suites.map((suite) => ({ ...suite, ...atLeast(value) })),
    },
  });
  it.each<[string, Report[], string[]]>([
    ['nothing', [], ['there is no report to merge']],
    ['a missing shard', [first, third], ['1 shard of 3 missing: 2']],
    [
      'a shard twice',
      [first, second, second, third],
      ['shard 2 is there more than once: shards/2, shards/3', 'shards/3 has cases of math that another shard has: b'],
    ],
    [
      'a whole gate',
      [first, { ...second, shard: null }, third],
      ['shards/2 is the report of a whole gate, not of a shard', '1 shard of 3 missing: 2'],
    ],
    [
      'a shard of other cases or definitions',
      [first, { ...second, shard: { index: 2, total: 3, digest: 'd2' } }, third],
      [
        'shards/2: cut otherwise than shards/1; all shards need the same evals files, options and history, and the same number of parts',
      ],
    ],
    [
      'another minimum',
      [first, withMinimum(0.1), third],
      ['shards/2 has another policy of the suite math than the shards before it: minimumPassRate'],
    ],
    [
      'another name',
      [first, { ...second, results: results === undefined ? [] : [{ ...results, name: 'Maths' }] }, third],
      ['shards/2 has another name or file of the suite math than the shards before it'],
    ],
    [
      'another version',
      [first, { ...second, generator: { ...second.generator, version: '9.0.0' } }, third],
      ['shards/2 has another version of mcp-eval-ci than shards/1'],
    ],
    [
      'another commit',
      [first, { ...second, revision: { commit: 'abc', branch: null } }, third],
      ['shards/2 has another commit or branch than shards/1'],
    ],
    [
      'another server',
      [first, { ...second, server: second.server && { ...second.server, version: '9.0.0' } }, third],
      ['shards/2 has another server than shards/1'],
    ],
    [
      'another base',
      [
        { ...first, baseComparison: createBaseComparison('abc', null) },
        { ...second, baseComparison: createBaseComparison(null, 'It did not start.') },
        { ...third, baseComparison: createBaseComparison('def', null) },
      ],
      ['shards/3 has another base than shards/1'],
    ],
  ])('refuses %s', (_, reports, problems) => {
    expect(join(reports).problems).toEqual(problems);
  });
});

describe('joinShards, with flaky cases', () => {
  const flaky = { passed: 0, failed: 1, retries: [{ passed: 1, total: 1 }] };
  const round = { round: 1, cases: 1, run: null, shortfall: null };
  const cases = ['a', 'b'].map((id, line) => {
    return createCaseResults({ id, ...(id === 'b' ? flaky : {}), location: { file: 'x', line, column: 1 } });
  });
  const shardsUnder = (effect: FlakyEffect, members = cases) => {
    const policy = createPolicy({ ...atLeast(1), flaky: ofPolicy(effect) });
    const reports = members.map((member, position) =>
      createReport({
        policy,
        suites: [createSuiteResults({ cases: [member], retries: member.failed > 0 ? [round] : [] })],
        shard: { index: position + 1, total: members.length, digest: '' },
      }),
    );
    return sealShards(reports);
  };

  it.each<[FlakyEffect, string]>([
    ['fail', 'failed'],
    ['pass', 'passed'],
    ['report', 'passed'],
  ])('counts them as their shard did: %s', (effect, outcome) => {
    const { joined, problems } = join(shardsUnder(effect));
    expect(problems).toEqual([]);
    const [suite] = judge(joined).suites;
    expect(suite?.verdict.outcome).toBe(outcome);
    expect(suite?.results.retries).toEqual([round]);
  });

  it('rejects shards that count flaky cases differently', () => {
    const both = cases.map((member) => ({ ...member, ...flaky }));
    const [first] = shardsUnder('fail', both);
    const [, second] = shardsUnder('pass', both);
    const { problems } = join(sealShards([first, second].filter((report) => report !== undefined)));
    expect(problems).toEqual(['shards/2 has another policy of the suite math than the shards before it: flaky']);
  });
});
