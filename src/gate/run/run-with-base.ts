import { findGreatest } from '../../base/lists.ts';
import type { BaseResults } from '../../model/base-comparison.ts';
import { rateConfidence } from '../../model/case-change.ts';
import type { SuiteResults } from '../../model/results.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { listRunGaps } from '../../verdict/completeness.ts';
import { countPairs, listSuspects } from '../../verdict/compare-base.ts';
import type { FileSuite } from '../plan/plan-suites.ts';
import { asBaseService, type BaseSide } from './base-side.ts';
import { noEvidence } from './evidence.ts';
import { countTo, createPairLog, openCoin } from './pair-log.ts';
import { type PreparedSuite, selectPrepared } from './prepare-suite.ts';
import type { IterationNumbers } from './read-results.ts';
import { planSuiteRounds, type RoundPlan, runInRounds } from './run-rounds.ts';
import { continueSuite, type RanSuite, type RunPartner, type SuiteRunContext } from './run-suite.ts';
import { noIterationLog } from './trace-log.ts';

/** Rounds in which only cases run that the base passes and the change fails. More would mean that the cases are flaky. */
const maxConfirmingRounds = 25;

/** How a suite is run next to its base. */
export interface BasePairing {
  base: BaseSide;
  /** How many cases of all suites are compared. */
  cases: number;
  /** Whether cases that seem worse run further until that is settled. */
  confirms: boolean;
}

/**
 * Runs a suite against the change and against its base, round by round: in each, every case runs once on either side, and the seed says
 * which side begins. A hosted service, in which every run takes its time, has one run of all rounds for each side instead. The results are
 * those of the change; what the base did stands in `base`, and nothing of it changes the rest.
 */
export async function runWithBase(
  planned: FileSuite,
  { base, cases, confirms }: BasePairing,
  context: SuiteRunContext,
): Promise<RanSuite> {
  const { clock, serviceOptions, lifetime } = context;
  const isHosted = serviceOptions.hosted !== null;
  const pairs = createPairLog();
  const newCases = new Set(base.listNew(planned));
  const throwCoin = openCoin(base.planned.seed);
  const outline = outlineSuite(planned.suite, planned.whole).cases;
  const groupId = `mcp-eval-ci-${base.planned.seed}-${planned.suite.id}`;
  let baseMs = 0;

  const baseContext: SuiteRunContext = {
    ...context,
    service: asBaseService(context.service),
    lifetime: base.lifetime,
    iterationLog: noIterationLog,
    traceLog: null,
    evidence: pairs.watch('base', noEvidence),
    onProgress: () => {},
  };
  const runBase = async (prepared: PreparedSuite, numbers: IterationNumbers | null): Promise<void> => {
    if (base.problem() !== null) return;
    const wanted = prepared.outline.cases.filter(({ id, runs }) => {
      if (newCases.has(id)) return false;
      return !pairs.addCached(id, { cached: findCached(id), numbers: numbers?.get(id) ?? countTo(runs ?? 1) });
    });
    if (wanted.length === 0 || lifetime.cancelRun.aborted) return;
    const servers = await base.open(planned);
    if (base.problem() !== null) return;
    const ids = new Set(wanted.map(({ id }) => id));
    const selected = selectPrepared(prepared, { ids, name: `${prepared.outline.name} (base)` });
    if (selected === null) {
      base.giveUp('The service does not say which of its cases they are.');
      return;
    }
    const run = {
      ...selected.run,
      serverIds: servers.map(({ id }) => id),
      serverNames: servers.map(({ alias }) => alias),
      ...(isHosted && { runGroupId: groupId }),
    };
    const startedMs = clock.monotonicMs();
    const { results } = await continueSuite(
      planned,
      { prepared: { ...selected, run }, numbers: numbers ?? new Map() },
      { ...baseContext, servers },
    );
    baseMs += clock.monotonicMs() - startedMs;
    const why = results.interruption ?? listRunGaps(results)[0] ?? null;
    if (why !== null && !lifetime.cancelRun.aborted) base.giveUp(why.message);
  };
  const findCached = (id: string): string => {
    const found = outline.find((testCase) => testCase.id === id);
    return found === undefined ? '' : base.cache.find(planned.suite.id, found);
  };
  const partner: RunPartner = {
    runBeside: async ({ prepared: given, numbers }, runOwn) => {
      const prepared = isHosted ? { ...given, run: { ...given.run, runGroupId: groupId } } : given;
      // The cases that a run itself writes into its suite can be run again only after it.
      const isBaseFirst = throwCoin() && prepared.written.length === 0;
      if (isBaseFirst) await runBase(prepared, numbers);
      const used = await runOwn(prepared);
      if (!isBaseFirst) await runBase(used, numbers);
    },
  };

  const paired = { ...context, partner, evidence: pairs.watch('head', context.evidence) };
  const fixed = isHosted ? planned : withOneRun(planned);
  const rounds = planSuiteRounds(planned, context);
  const ran = await runInRounds(fixed, planRounds(planned, rounds), paired);
  const results = addTime(rounds === null ? dropRounds(ran.results) : ran.results, baseMs);
  const measure = (): BaseResults => ({
    label: base.planned.label,
    commit: base.planned.checkout?.commit ?? null,
    seed: base.planned.seed,
    problem: base.problem(),
    cases: pairs.list(outline.filter(({ id }) => !newCases.has(id))),
    newCases: [...newCases],
  });
  // Each run of a hosted service takes its time.
  const atOnce = isHosted ? 5 : 1;
  const confidence = ran.requirements.confidence?.value ?? rateConfidence;
  const confirm = async (ids: ReadonlySet<string>): Promise<void> => {
    const { prepared } = ran;
    const name = `${ran.results.name} (comparison)`;
    const selected = prepared === null ? null : selectPrepared(prepared, { ids, name, runs: atOnce });
    if (selected === null) return;
    const numbers = new Map([...ids].map((id) => [id, countTo(atOnce).map((number) => pairs.next(id) + number - 1)]));
    await continueSuite(
      planned,
      { prepared: selected, numbers },
      {
        ...baseContext,
        partner,
        lifetime,
        evidence: pairs.watch('head', noEvidence),
      },
    );
  };
  // A case that always has the same result needs no second one.
  const repeatable = planned.suite.cases.filter(({ isDeterministic }) => isDeterministic !== true);
  let open = new Set(confirms && results.interruption === null ? repeatable.map(({ id }) => id) : []);
  for (
    let round = 0;
    round < maxConfirmingRounds && base.problem() === null && !lifetime.cancelRun.aborted;
    round += 1
  ) {
    const suspects = listSuspects(measure(), { cases, confidence }).filter((id) => open.has(id));
    if (suspects.length === 0) break;
    const before = measure();
    await confirm(new Set(suspects));
    // A round without a result on both sides would be followed by another one without.
    const after = measure();
    open = new Set(suspects.filter((id) => countBoth(after, id) > countBoth(before, id)));
  }
  if (base.problem() === null) {
    for (const { id, base: marks } of measure().cases) {
      const testCase = outline.find((each) => each.id === id);
      if (testCase !== undefined) base.cache.add(planned.suite.id, testCase, marks);
    }
  }
  return { ...ran, results: { ...results, base: measure() } };
}

/** The cases as they are, each with its first iteration alone: the others follow round by round. */
function withOneRun(planned: FileSuite): FileSuite {
  const limit = <Of extends FileSuite['suite']>(suite: Of): Of => ({
    ...suite,
    cases: suite.cases.map((testCase) => ({ ...testCase, runs: 1 })),
  });
  return { ...planned, suite: limit(planned.suite), whole: limit(planned.whole) };
}

/** One round after another until every case has had its `runs`, and then what the policy asks for, one round at a time. */
function planRounds({ suite }: FileSuite, further: RoundPlan | null): RoundPlan {
  const most = Math.max(1, findGreatest(suite.cases.map(({ runs }) => runs)));
  return {
    min: further?.min ?? most,
    max: further?.max ?? most,
    next: (results, requirements) => {
      const runs = new Map(suite.cases.map((testCase) => [testCase.id, testCase.runs]));
      const pending = results.cases.filter(({ id, byRound = '' }) => byRound.length < (runs.get(id) ?? 0));
      if (pending.length > 0) return { caseIds: new Set(pending.map(({ id }) => id)), rounds: 1 };
      const next = further?.next(results, requirements) ?? null;
      return next === null ? null : { ...next, rounds: 1 };
    },
  };
}

/** A number of iterations that was fixed in advance is not judged by rounds, however they were given out. */
function dropRounds({ rounds: _rounds, ...results }: SuiteResults): SuiteResults {
  return { ...results, cases: results.cases.map(({ byRound: _byRound, ...testCase }) => testCase) };
}

/** Takes the time of the base out of the time of the run, which budgets limit. */
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
