import * as fc from 'fast-check';
import { emptyPolicyLayer, type FlakyEffect } from '../../../src/model/policy.ts';
import type { Report } from '../../../src/model/report.ts';
import type { CaseResults, SuiteResults } from '../../../src/model/results.ts';
import { noModelUsage } from '../../../src/model/usage.ts';
import { createBaseline, createBaselineCase } from '../factories/baseline-factory.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from '../factories/policy-factory.ts';
import { createReport } from '../factories/report-factory.ts';
import { suiteResults } from '../factories/results-arbitrary.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../factories/results-factory.ts';

const ids = ['case-0', 'case-1', 'case-2'];
const rate = fc.constantFrom(0.5, 0.8, 1);
const models = ['a/small', 'b/large'] as const;

const policies = fc
  .record({
    overall: fc.constantFrom(0, 0, 0.5, 0.8, 1),
    flaky: fc.constantFrom<FlakyEffect>('fail', 'pass', 'report'),
    tokens: fc.constantFrom(null, null, null, 100_000, 0),
    tag: fc.option(rate, { nil: null }),
    minimum: fc.option(fc.record({ id: fc.constantFrom(...ids), rate }), { nil: null }),
    required: fc.subarray(ids),
    quarantined: fc.option(fc.constantFrom(...ids), { nil: null }),
    model: fc.option(rate, { nil: null }),
    isPooled: fc.boolean(),
    confidence: fc.constantFrom(null, null, null, 0.8),
    cost: fc.constantFrom(null, null, null, 0.001, 0),
  })
  .map(({ overall, tokens, cost, flaky, tag, model, isPooled, confidence, minimum, required, quarantined }) =>
    createPolicy({
      ...atLeast(overall),
      budgets: {
        ...emptyPolicyLayer.budgets,
        tokens: tokens === null ? null : ofPolicy(tokens),
        cost: cost === null ? null : ofPolicy(cost),
      },
      models: model === null ? [] : [{ name: models[0], ...ofPolicy(model) }],
      poolModels: ofPolicy(isPooled),
      confidence: confidence === null ? null : ofPolicy(confidence),
      flaky: ofPolicy(flaky),
      tags: tag === null ? [] : [{ name: 'smoke', ...ofPolicy(tag) }],
      cases: minimum === null ? [] : [{ name: minimum.id, ...ofPolicy(minimum.rate) }],
      required: required.map((name) => ({ name, ...ofPolicy(true as const) })),
      quarantine: quarantined === null ? [] : [createQuarantineEntry({ case: quarantined })],
    }),
  );

/** Often a suite in which everything passed, so that passing gates are common. */
const suiteOrSound = fc.tuple(suiteResults, fc.boolean()).map(([drawn, isSound]) => {
  if (!isSound) return drawn;
  return createSuiteResults({
    cases: drawn.cases.map(({ id, passed }) => createCaseResults({ id, passed: passed + 1 })),
  });
});

/** Results of two suites. Each case has its own line, title and definition. */
export const plannedSuites: fc.Arbitrary<SuiteResults[]> = fc.tuple(suiteOrSound, suiteOrSound).map((drawn) =>
  drawn.map((suite, index) => ({
    ...suite,
    suiteId: `suite-${index}`,
    cases: suite.cases.map((member, line) => ({
      ...member,
      // A plan has at least one iteration.
      planned: Math.max(1, member.planned),
      title: `Case ${line}`,
      tokensUsed: 100 * member.passed,
      ...(index === 0 ? useModel(member, line) : {}),
      tags: line === 0 ? ['smoke'] : [],
      location: { file: 'x', line: line + 1, column: 1 },
      failures: member.failed > 0 ? [createFailure()] : [],
    })),
  })),
);

/** Half of the passed iterations and half of the failed ones were recorded. */
function useModel({ passed, failed }: CaseResults, line: number): Partial<CaseResults> {
  const replayed = { passed: Math.floor(passed / 2), failed: Math.floor(failed / 2) };
  const replayedCalls = replayed.passed + replayed.failed;
  const modelCalls = passed + failed - replayedCalls;
  return {
    model: models[line % 2] ?? null,
    usage: { ...noModelUsage, modelCalls, replayedCalls, inputTokens: 100 * modelCalls, outputTokens: 10 * modelCalls },
    replayed: { passed: replayed.passed, total: replayedCalls },
  };
}

const prices = models.map((name) => ({ name, ...ofPolicy({ input: 1, cachedInput: 0.1, output: 5 }) }));

/** Reports of gates with all outcomes, with policies, and with or without a baseline. */
export const gateReports: fc.Arbitrary<Report> = fc
  .tuple(plannedSuites, policies, fc.boolean(), fc.nat({ max: 2 }))
  .map(([suites, policy, isCompared, maximumRegressions]) => {
    const baseline = createBaseline(
      suites.flatMap(({ suiteId, cases }) =>
        cases.map(({ id, definitionHash }) => createBaselineCase({ suiteId, id, passed: 3, total: 3, definitionHash })),
      ),
    );
    return createReport({ suites, policy, prices, baseline: isCompared ? baseline : null, maximumRegressions });
  });

export type Place = Array<string | number>;

/** Lists every value in a report that is neither an object nor a list, and every list that is not empty. */
export function listPlaces(value: unknown, place: Place = []): Place[] {
  if (Array.isArray(value)) {
    return [
      ...(value.length > 0 ? [place] : []),
      ...value.flatMap((each, index) => listPlaces(each, [...place, index])),
    ];
  }
  if (typeof value !== 'object' || value === null) return [place];
  return Object.entries(value).flatMap(([key, each]) => listPlaces(each, [...place, key]));
}

/** Changes the value at one path, in one of several ways. */
export function damage(value: unknown, [key, ...rest]: Place, how: number): unknown {
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
