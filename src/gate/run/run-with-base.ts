import { endSentence } from '../../base/text.ts';
import type { BaseResults } from '../../model/base-comparison.ts';
import { rateConfidence } from '../../model/case-change.ts';
import type { SuiteResults } from '../../model/results.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { countPairs, limitConfirmingPairs, listSuspects } from '../../verdict/compare-base.ts';
import type { FileSuite } from '../plan/plan-suites.ts';
import { type BaseRuns, createBaseRuns, type PairedSuite } from './base-runs.ts';
import type { BaseSide } from './base-side.ts';
import { confirmSuspects, muteContext } from './confirm.ts';
import { noEvidence } from './evidence-log.ts';
import { countTo, createPairLog } from './pair-log.ts';
import { selectPrepared } from './prepared-suite.ts';
import { planSingleRounds, planSuiteRounds, runInRounds, withOneRun } from './run-rounds.ts';
import { continueSuite, type RanSuite, type OtherSide, type SuiteRunContext } from './run-suite.ts';

/** Pairs a suite with its base. */
export interface BasePairing {
  base: BaseSide;
  /** The number of cases that may regress, which limits the further runs of cases that seem worse; null if the comparison decides nothing. */
  confirmsAbove: number | null;
}

/**
 * Runs a suite on the change and on its base, round by round: in each round, every case runs once on either side, and the seed decides which
 * side begins. A hosted service, in which every run takes time, has one run of all rounds for each side instead. The results are those of
 * the change; `base` has the results of the base, which change nothing else.
 */
export async function runWithBase(
  planned: FileSuite,
  { base, confirmsAbove }: BasePairing,
  surroundings: SuiteRunContext,
): Promise<RanSuite> {
  const context = { ...surroundings, groupId: `mcp-eval-ci-${base.planned.seed}-${planned.suite.id}` };
  const suite: PairedSuite = {
    planned,
    base,
    pairs: createPairLog(),
    outline: outlineSuite(planned.suite, planned.whole).cases,
    newCases: new Set(base.listNew(planned)),
    processes: 'iteration',
  };
  const otherSide = createBaseRuns(suite, context);
  const ran = await runOwnRounds(suite, otherSide, context);
  const results = addTime(ran.results, otherSide.spentMs());
  suite.pairs.endOwnRounds();
  keepResults(suite);
  if (confirmsAbove !== null && results.interruption === null) {
    await confirmWorse(suite, { ran, otherSide, maximumRegressions: confirmsAbove }, context);
  }
  return { ...ran, results: { ...results, base: measure(suite) } };
}

/** Runs the rounds of the plan, each next to a round of the base. */
async function runOwnRounds(
  { planned, pairs }: PairedSuite,
  otherSide: OtherSide,
  context: SuiteRunContext,
): Promise<RanSuite> {
  const rounds = planSuiteRounds(planned, context);
  const once = context.backend.traits.hasCheapRuns ? withOneRun(planned) : planned;
  const paired = { ...context, otherSide, evidence: pairs.watch('head', context.evidence) };
  const ran = await runInRounds(once, planSingleRounds(planned, rounds), paired);
  return rounds === null ? { ...ran, results: dropRounds(ran.results) } : ran;
}

/** Runs further iterations of cases that seem worse, on both sides. */
async function confirmWorse(
  suite: PairedSuite,
  { ran, otherSide, maximumRegressions }: { ran: RanSuite; otherSide: BaseRuns; maximumRegressions: number },
  context: SuiteRunContext,
): Promise<void> {
  const { planned, base, pairs } = suite;
  const { clock, logger } = context;
  let problem: string | null = null;
  const confirming = otherSide.confirm((reason) => (problem ??= reason));
  const muted = { ...muteContext(context), otherSide: confirming, evidence: pairs.watch('head', noEvidence) };
  const atOnce = context.backend.traits.hasCheapRuns ? 1 : 5;
  const runFurther = async (ids: ReadonlySet<string>): Promise<void> => {
    const name = `${ran.results.name} (comparison)`;
    const selected = ran.prepared === null ? null : selectPrepared(ran.prepared, { ids, name, runs: atOnce });
    if (selected === null) return;
    const numbers = new Map([...ids].map((id) => [id, countTo(atOnce).map((number) => pairs.next(id) + number - 1)]));
    const { results } = await continueSuite(planned, { prepared: selected, numbers }, muted);
    problem ??= results.interruption?.message ?? null;
  };
  const canGoOn = () => problem === null && base.problem() === null && !context.lifetime.cancelRun.aborted;
  const confidence = ran.requirements.confidence?.value ?? rateConfidence;
  const deterministic = new Set(planned.suite.cases.filter((each) => each.isDeterministic).map(({ id }) => id));
  const family = { cases: base.planned.cases, confidence, deterministic };
  const obstacle = await confirmSuspects(
    {
      listSuspects: () => (canGoOn() ? listSuspects(measure(suite), family) : []),
      countResults: (id) => countBoth(measure(suite), id),
      runFurther,
      findObstacle: () => null,
      mostIterations: limitConfirmingPairs(measure(suite), maximumRegressions),
      atOnce,
      // The base has only a share of the time.
      remainingMs: () => Math.min(base.lifetime.deadline.remainingMs(), context.lifetime.deadline.remainingMs()),
      expectedMs: 0,
    },
    clock,
  );
  problem ??= obstacle;
  if (problem !== null) {
    logger.info(
      `${ran.results.name}: cases that seem worse than the base were not run further. ${endSentence(problem)}`,
    );
  }
}

function measure(suite: PairedSuite): BaseResults {
  const { base, pairs, outline, newCases } = suite;
  const { label, checkout, seed } = base.planned;
  return {
    label,
    commit: checkout?.commit ?? null,
    seed,
    problem: base.problem(),
    processes: suite.processes,
    cases: pairs.list(outline.filter(({ id }) => !newCases.has(id))),
    newCases: [...newCases],
  };
}

/** Adds the results of the base to its cache. */
function keepResults(suite: PairedSuite): void {
  const { planned, base, outline } = suite;
  if (base.problem() !== null) return;
  for (const { id, base: marks } of measure(suite).cases) {
    const testCase = outline.find((each) => each.id === id);
    if (testCase !== undefined) base.cache.add(planned.suite.id, testCase, marks);
  }
}

/** Removes the rounds of a number of iterations that was fixed in advance, which is not judged by rounds. */
function dropRounds({ rounds: _rounds, ...results }: SuiteResults): SuiteResults {
  return { ...results, cases: results.cases.map(({ byRound: _byRound, ...testCase }) => testCase) };
}

/** Subtracts the time of the base from the time of the run, which budgets limit. */
function addTime(results: SuiteResults, baseMs: number): SuiteResults {
  const { run } = results;
  if (run === null || run.completedAtMs === null || run.createdAtMs === null) return results;
  return {
    ...results,
    run: { ...run, completedAtMs: Math.max(run.createdAtMs, run.completedAtMs - Math.round(baseMs)) },
  };
}

function countBoth({ cases }: BaseResults, id: string): number {
  const found = cases.find((each) => each.id === id);
  return found === undefined ? 0 : countPairs(found).base.total;
}
