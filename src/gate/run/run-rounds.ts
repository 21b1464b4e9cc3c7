import { appendAll, findGreatest } from '../../base/lists.ts';
import { formatCount } from '../../base/text.ts';
import type { SuiteRequirements } from '../../model/policy.ts';
import type { Rounds, RunReport, SuiteResults } from '../../model/results.ts';
import { countTokens } from '../../model/usage.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { addRounds } from '../../verdict/add-rounds.ts';
import { countMinimums, type NextRounds, planNextRounds } from '../../verdict/plan-rounds.ts';
import { listRunGaps } from '../../verdict/completeness.ts';
import { sum } from '../../verdict/count.ts';
import { splitQuarantine } from '../../verdict/quarantine.ts';
import { isIterationReplayed } from '../../verdict/tally.ts';
import { startWallTimeBudget } from './budget-monitor.ts';
import { type EvidenceCollector, extendEvidence } from './evidence-log.ts';
import { type FileSuite, findRunRange, type PlannedSuite } from '../plan/plan-suites.ts';
import { type IterationNumbers, selectPrepared } from './prepared-suite.ts';
import { findProcessScope, renewServers } from './renew-servers.ts';
import { explainInterruption } from './run-lifetime.ts';
import { continueSuite, type RanSuite, type OtherSide, runSuite, type SuiteRunContext } from './run-suite.ts';

/** Decides how long a suite continues. */
export interface RoundPlan extends Pick<Rounds, 'min' | 'max'> {
  /**
   * Returns what runs after the rounds so far, which are in `cases[].byRound`; null ends the suite. A case that lacks the result of an
   * iteration has a shorter `byRound` than the others: if the plan names only that case, that iteration runs again.
   */
  next(results: SuiteResults, requirements: SuiteRequirements): NextRounds | null;
}

/** Runs a suite as planned: at once, or round by round if a confidence decides how often its cases run. */
export async function runPlannedSuite(
  planned: PlannedSuite,
  context: SuiteRunContext & { stopsEarly: boolean },
): Promise<RanSuite> {
  const rounds = planSuiteRounds(planned, context);
  if (rounds === null) return await runSuite(planned, context);
  const { stopsEarly: _stopsEarly, ...shared } = context;
  // Each block is a run with its own time; the budget is for all of them.
  using _time = startWallTimeBudget(planned.requirements.budgets.wallTimeMs, context);
  const { servers, witnesses, lifetime, backend } = context;
  const processes = { witnesses, traits: backend.traits };
  if (planned.kind === 'stored' || findProcessScope(servers, processes) !== 'round') {
    return await runInRounds(planned, rounds, shared);
  }
  // Rounds are independent only if each has its own process.
  const otherSide: OtherSide = {
    runBoth: async ({ prepared }, runOwn) => {
      await renewServers(servers, { ...processes, signal: lifetime.cancelRun });
      await runOwn(prepared);
    },
  };
  return await runInRounds(withOneRun(planned), planSingleRounds(planned, rounds), { ...shared, otherSide });
}

/** Reduces each case to its first iteration: the others follow round by round. */
export function withOneRun(planned: FileSuite): FileSuite {
  const limit = <Of extends FileSuite['suite']>(suite: Of): Of => ({
    ...suite,
    cases: suite.cases.map((testCase) => ({ ...testCase, runs: 1 })),
  });
  return { ...planned, suite: limit(planned.suite), whole: limit(planned.whole) };
}

/** Plans one round after another until every case has had its `runs`, and then the further rounds of the policy, one at a time. */
export function planSingleRounds({ suite }: FileSuite, further: RoundPlan | null): RoundPlan {
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

/** Plans the rounds of a suite with a range of `runs`; null if the number of iterations is fixed. */
export function planSuiteRounds(
  planned: PlannedSuite,
  { today, minimums, logger }: Pick<SuiteRunContext, 'today' | 'minimums' | 'logger'>,
): RoundPlan | null {
  const range = findRunRange(planned);
  if (range === null) return null;
  const next: RoundPlan['next'] = (results, requirements) => {
    // The minimums of a suite that a service keeps are counted after it was read.
    const sharedMinimums = Math.max(minimums, countMinimums([{ results, requirements }], today));
    const further = planNextRounds(results, { requirements: { ...requirements, sharedMinimums }, today });
    if (further !== null) {
      const cases = formatCount(further.caseIds.size, 'case');
      const ran = Math.max(0, ...results.cases.map(({ byRound = '' }) => byRound.length));
      logger.info(
        `${results.name}: not decided after ${ran} of at most ${formatCount(range.max, 'round')}; running ${cases} for ${formatCount(further.rounds, 'further round')}.`,
      );
    }
    return further;
  };
  return { ...range, next };
}

/**
 * Runs a suite round by round, until the plan ends it. The first run of the suite has as many rounds as its cases have `runs`; each further
 * block is its own run. An interruption of a run ends the rounds, and so do more iterations without a result than the budget
 * `infrastructureErrors` allows; earlier results stand.
 */
export async function runInRounds(planned: PlannedSuite, plan: RoundPlan, context: SuiteRunContext): Promise<RanSuite> {
  const keeper = createRoundKeeper(context.evidence);
  const { lifetime, onProgress, servers, witnesses, backend } = context;
  const { traits } = backend;
  const processes = findProcessScope(servers, { witnesses, traits });
  const inRounds: SuiteRunContext = {
    ...context,
    evidence: keeper.evidence,
    // Reports each case once, with all of its rounds.
    onProgress: (progress) => (progress.kind === 'case-read' ? undefined : onProgress(progress)),
  };
  const first = await runSuite(planned, { ...inRounds, stopsEarly: false });
  const { prepared, requirements } = first;
  const { min, max } = plan;
  const runs = listRun(first.results);
  const complete = (results: SuiteResults): SuiteResults => ({
    ...results,
    cases: results.cases.map((testCase) => ({ ...testCase, byRound: keeper.describe(testCase.id) })),
    rounds: { min, max, runs: [...runs], processes },
  });
  const mostAtOnce = traits.iterationsPerCase;
  const runBlock = async ({ caseIds: ids, rounds }: NextRounds): Promise<SuiteResults | VerdictReason> => {
    if (lifetime.cancelRun.aborted) return explainInterruption(lifetime.cancelRun.reason);
    const count = Math.min(rounds, mostAtOnce);
    const name = `${first.results.name} (further rounds)`;
    const selected = prepared === null ? null : selectPrepared(prepared, { ids, name, runs: count });
    if (selected === null) return unknownCases;
    const numbers: IterationNumbers = new Map([...ids].map((id) => [id, keeper.listMissing(id, count)]));
    const { results } = await continueSuite(planned, { prepared: selected, numbers }, inRounds);
    if (runs.some(({ id }) => id === results.run?.id)) return staleRun;
    appendAll(runs, listRun(results));
    return results;
  };
  let results = complete(first.results);
  for (;;) {
    const next = canGoOn(results, requirements, context.today) ? plan.next(results, requirements) : null;
    if (next === null) break;
    const further = await runBlock(next);
    results = 'code' in further ? interrupt(results, further) : complete(addRounds(results, further));
  }
  for (const result of results.cases) onProgress({ kind: 'case-read', suite: results.name, result });
  return { results, requirements, prepared };
}

function interrupt(results: SuiteResults, interruption: VerdictReason): SuiteResults {
  return { ...results, interruption };
}

const unknownCases: VerdictReason = {
  code: 'infrastructure',
  message: 'The service does not say which of its cases they are, so that no further round could be run.',
};

const staleRun: VerdictReason = {
  code: 'infrastructure',
  message: 'The service returned an earlier run instead of a new one, so that the round has no results.',
};

function listRun({ run, runUrl: url }: SuiteResults): RunReport[] {
  return run === null ? [] : [{ id: run.id, suiteId: run.suiteId, status: run.status, url }];
}

/** Checks if a further round can be combined with the rounds so far, and if they exceed no budget. */
function canGoOn(results: SuiteResults, requirements: SuiteRequirements, today: string): boolean {
  const { tokens, infrastructureErrors } = requirements.budgets;
  const { counted } = splitQuarantine(results.cases, requirements, today);
  return (
    listRunGaps(results).length === 0 &&
    sum(counted, ({ unscored }) => unscored) <= (infrastructureErrors?.value ?? 0) &&
    (tokens === null || sum(results.cases, countTokens) <= tokens.value)
  );
}

interface RoundKeeper {
  evidence: EvidenceCollector;
  /** Returns the results of a case in the order of its iterations, in the form of `CaseResults.byRound`. */
  describe(caseId: string): string;
  /** Lists the numbers of the next iterations of a case: first those without a result, then those that have not run. */
  listMissing(caseId: string, count: number): number[];
}

/** Keeps the result of each iteration, in addition to what the collector within it collects. */
function createRoundKeeper(within: EvidenceCollector): RoundKeeper {
  const byCase = new Map<string, Map<string, { number: number; mark: string }>>();
  const listScored = (caseId: string) =>
    [...(byCase.get(caseId)?.values() ?? [])]
      .filter(({ mark }) => mark !== '')
      .toSorted((one, other) => one.number - other.number);
  return {
    evidence: extendEvidence(within, {
      addIteration: (_suiteId, iteration, { caseId, outcome }) => {
        const iterations = byCase.get(caseId) ?? new Map();
        byCase.set(caseId, iterations);
        const letter = outcome === 'unscored' ? '' : outcome.charAt(0);
        const mark = isIterationReplayed(iteration) ? letter.toUpperCase() : letter;
        iterations.set(iteration.id, { number: iteration.iterationNumber ?? iterations.size + 1, mark });
      },
    }),
    describe: (caseId) =>
      listScored(caseId)
        .map(({ mark }) => mark)
        .join(''),
    listMissing: (caseId, count) => {
      const known = new Set(listScored(caseId).map(({ number }) => number));
      const candidates = Array.from({ length: known.size + count }, (_, index) => index + 1);
      return candidates.filter((number) => !known.has(number)).slice(0, count);
    },
  };
}
