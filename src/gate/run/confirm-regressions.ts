import { describeError, GateError } from '../../base/errors.ts';
import { findGreatest } from '../../base/lists.ts';
import { endSentence, formatCount } from '../../base/text.ts';
import { computeCost } from '../../model/cost.ts';
import type { GatePolicy } from '../../model/policy.ts';
import type { CaseResults } from '../../model/results.ts';
import { countTokens } from '../../model/usage.ts';
import { limitConfirmingIterations, listUnconfirmed } from '../../verdict/compare-baseline.ts';
import { sum } from '../../verdict/count.ts';
import { addConfirming } from '../../verdict/flaky.ts';
import { compareSuites, type MeasuredSuite } from '../../verdict/judge-gate.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { confirmSuspects, muteContext } from './confirm.ts';
import { selectPrepared } from './prepared-suite.ts';
import { renewServers } from './renew-servers.ts';
import { startRunLifetime } from './run-lifetime.ts';
import { type RanSuite, rerunSuite, type SuiteRunContext } from './run-suite.ts';
import type { ServerWitnessBook, TestServers } from './test-servers.ts';

interface ComparedSuites {
  planned: readonly PlannedSuite[];
  ran: readonly RanSuite[];
  /** Gains the results of the further iterations. */
  measured: MeasuredSuite[];
  servers: Pick<TestServers, 'find'>;
  witnesses: Pick<ServerWitnessBook, 'find'>;
}

/**
 * Runs further iterations of cases that seem to have regressed since the baseline, so that one chance failure is no regression. A case runs
 * until it has eight iterations; if all failed at first, one pass is enough to refute the regression. A deterministic case needs two. Restarts
 * the processes that this gate started before each round. If something cannot run, the results stay as they are. Returns true if nothing was
 * cut short.
 */
export async function confirmRegressions(
  { planned: suites, ran, measured, servers, witnesses }: ComparedSuites,
  limits: Pick<GatePolicy, 'baseline' | 'maximumRegressions' | 'prices'>,
  context: Omit<SuiteRunContext, 'servers'>,
): Promise<boolean> {
  const { clock, logger } = context;
  const maximumRegressions = limits.maximumRegressions.value;
  const compare = () => compareSuites(measured, { ...limits, maximumRateDrop: null });
  let isWhole = true;
  for (const [index, planned] of suites.entries()) {
    const [suite, own] = [ran[index], measured[index]];
    const prepared = suite?.prepared ?? null;
    if (own === undefined || prepared === null || own.results.interruption !== null) continue;
    const { suiteId } = own.results;
    const read = () => measured[index]?.results ?? own.results;
    const findCase = (id: string) => read().cases.find((testCase) => testCase.id === id);
    let problem: string | null = null;
    const listSuspects = () => {
      const comparison = problem === null && !context.lifetime.cancelRun.aborted ? compare() : null;
      return comparison === null ? [] : listUnconfirmed(comparison, { suiteId, maximumRegressions });
    };
    const seeming = listSuspects();
    if (seeming.length === 0) continue;
    // An exceeded budget of the suite cancels only these iterations, and not the suites after it.
    const remainingMs = () => context.lifetime.deadline.remainingMs();
    using lifetime = startRunLifetime(clock, { timeoutMs: remainingMs(), signal: context.lifetime.cancelRun });
    const muted = muteContext({ ...context, lifetime, servers: servers.find(planned) }, { sharesBudgets: true });
    const { name } = own.results;
    const { traits } = context.backend;
    const atOnce = traits.hasCheapRuns ? 1 : 7;
    const runFurther = async (ids: ReadonlySet<string>): Promise<void> => {
      const selected = selectPrepared(prepared, { ids, name: `${name} (comparison)`, runs: atOnce });
      if (selected === null) {
        problem = 'The service does not say which of its cases they are.';
        return;
      }
      try {
        await renewServers(muted.servers, { witnesses, traits, signal: lifetime.cancelRun });
      } catch (error) {
        if (!(error instanceof GateError)) throw error;
        problem = describeError(error);
        return;
      }
      const { results } = await rerunSuite(planned, { prepared: selected, round: 1 }, muted);
      measured[index] = { ...own, results: addConfirming(read(), results.cases) };
      problem = results.interruption?.message ?? null;
    };
    logger.info(
      `${name}: ${formatCount(seeming.length, 'case')} that passed in the baseline failed, and may run further.`,
    );
    const obstacle = await confirmSuspects(
      {
        listSuspects,
        countResults: (id) => findCase(id)?.confirming?.total ?? 0,
        runFurther,
        findObstacle: (ids) => findBudget(own, { cases: read().cases, ids, iterations: atOnce, prices: limits.prices }),
        mostIterations: limitConfirmingIterations(own.results, maximumRegressions),
        atOnce,
        remainingMs,
        expectedMs: Math.max(0, findGreatest(seeming.flatMap(({ id }) => findCase(id)?.durationsMs ?? []))),
      },
      clock,
    );
    const why = problem ?? obstacle;
    if (why === null) continue;
    isWhole &&= problem === null;
    logger.warning(
      `${name}: it is not confirmed of every case that it regressed, and the results so far decide. ${endSentence(why)}`,
    );
  }
  return isWhole;
}

interface FurtherUse {
  cases: readonly CaseResults[];
  ids: ReadonlySet<string>;
  iterations: number;
  prices: GatePolicy['prices'];
}

/** Names a budget of the suite that is too small for further iterations, if each uses as much as those of its case have so far. */
function findBudget(
  { requirements: { budgets } }: Pick<MeasuredSuite, 'requirements'>,
  { cases, ids, iterations, prices }: FurtherUse,
): string | null {
  const measures = {
    tokens: (testCase: CaseResults) => countTokens(testCase),
    modelCalls: ({ usage, judges }: CaseResults) => sum([{ usage }, ...judges], (each) => each.usage?.modelCalls ?? 0),
    cost: (testCase: CaseResults) => computeCost([testCase, ...testCase.judges], prices).amount ?? 0,
  };
  for (const name of ['tokens', 'modelCalls', 'cost'] as const) {
    const measure = measures[name];
    const further = cases.filter(({ id }) => ids.has(id));
    const expected = sum(further, (each) => (measure(each) / Math.max(1, countIterations(each))) * iterations);
    const limit = budgets[name]?.value ?? Infinity;
    if (expected > 0 && sum(cases, measure) + expected > limit) return `The budget ${name} does not suffice for it.`;
  }
  return null;
}

/** Counts all iterations that used something. */
function countIterations({ passed, failed, unscored, retries, confirming }: CaseResults): number {
  return passed + failed + unscored + sum(retries, ({ total }) => total) + (confirming?.total ?? 0);
}
