import { computeCost, priceJudges } from '../model/cost.ts';
import type { Pricing, SuitePolicy, SuiteRequirements } from '../model/policy.ts';
import { isSameHost } from '../model/format-host.ts';
import type { ModelsReport, ModelSummary } from '../model/report.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import { joinUsage, noModelUsage } from '../model/usage.ts';
import { countScored, sum } from './count.ts';
import { countFlaky } from './flaky.ts';
import { splitQuarantine } from './quarantine.ts';
import { countLive } from './rate-rule.ts';
import { computeClusteredInterval } from './statistics/clustered.ts';
import { splitConfidence } from './statistics/errors.ts';

const rangeErrors = splitConfidence(0.95);

/**
 * Summarizes the results of a gate's models over the cases that count, and their usage and cost over all cases; null if no model took part.
 * A requirement with a `confidence` has its own interval.
 */
export function summarizeModels(
  suites: ReadonlyArray<{ results: SuiteResults; requirements: SuiteRequirements }>,
  { today, prices, currency }: Pricing & Pick<SuitePolicy, 'today'>,
): ModelsReport | null {
  const cases = suites.flatMap(({ results }) => results.cases);
  const judges = cases.flatMap((testCase) => testCase.judges);
  if (judges.length === 0 && cases.every(({ model, usage }) => model === null && usage === null)) return null;
  const counted = suites.flatMap(({ results, requirements }) =>
    countFlaky(splitQuarantine(results.cases, requirements, today).counted, requirements.flaky.value),
  );
  const asked = listAsked(cases);
  const cost = computeCost([...cases, ...judges], prices);
  return {
    models: asked.map(({ model, host }) => {
      const isOwn = (each: CaseResults) => each.model === model && isSameHost(each.host, host);
      return {
        model,
        ...(host !== undefined && { host }),
        ...countModel(counted.filter(isOwn)),
        ...sumSpending(cases.filter(isOwn), prices),
      };
    }),
    ...sumSpending(cases, prices),
    judges: priceJudges(judges, prices),
    currency: currency.value,
    costGaps: cost.gaps,
  };
}

/** Lists the models of cases with their hosts, each pair once, in the order of its first case. */
function listAsked(cases: readonly CaseResults[]): Array<Pick<ModelSummary, 'model' | 'host'>> {
  const pairs = cases.flatMap(({ model, host }) =>
    model === null ? [] : [{ model, ...(host !== undefined && { host }) }],
  );
  return [...new Map(pairs.map((pair) => [JSON.stringify([pair.model, pair.host ?? null]), pair])).values()];
}

function countModel(cases: readonly CaseResults[]): Pick<ModelSummary, 'passed' | 'total' | 'replayed' | 'range'> {
  const { passed, scored } = countScored(cases);
  const interval = computeClusteredInterval(cases.map(countLive), rangeErrors);
  return {
    passed,
    total: scored,
    replayed: sum(cases, ({ replayed }) => replayed.total),
    range: interval === null ? null : { lower: interval.lower, upper: interval.upper },
  };
}

function sumSpending(cases: readonly CaseResults[], prices: Pricing['prices']): Pick<ModelSummary, 'usage' | 'cost'> {
  return {
    usage: { ...(joinUsage(cases.map(({ usage }) => usage)) ?? noModelUsage) },
    cost: computeCost(cases, prices).amount,
  };
}
