import { formatCount } from '../../base/text.ts';
import type { SuiteRequirements } from '../../model/policy.ts';
import type { CaseResults, RetryRound, SuiteResults } from '../../model/results.ts';
import { canBeDecided } from '../../verdict/bounds.ts';
import { addRetryRound, listStillFailing } from '../../verdict/flaky.ts';
import { listGaps } from '../../verdict/completeness.ts';
import { splitQuarantine } from '../../verdict/quarantine.ts';
import { noEvidence } from './evidence-log.ts';
import { explainInterruption, startRunLifetime } from './run-lifetime.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { type PreparedSuite, selectPrepared } from './prepared-suite.ts';
import { type RanSuite, rerunSuite, type SuiteRunContext } from './run-suite.ts';
import type { TestServers } from './test-servers.ts';

/**
 * Runs the cases of a suite that failed again, in as many rounds as its policy allows; each round runs only the cases that still fail. Every
 * round is its own run. A round that cannot be completed is ignored and ends the rounds; earlier results stand. Results without a verdict
 * are returned unchanged.
 */
export async function retryFailed(
  { results: first, requirements, prepared }: RanSuite,
  planned: PlannedSuite,
  context: SuiteRunContext & { timeoutMs: number },
): Promise<SuiteResults> {
  const rounds = requirements.retryFailed.value;
  const { today } = context;
  if (prepared === null || !isJudgeable(first, requirements, today)) return first;
  const runIds = new Set([first.run?.id]);
  let results = first;
  for (let round = 1; round <= rounds; round += 1) {
    const failing = listStillFailing(results, requirements, today);
    if (failing.length === 0) break;
    const again = await runAgain(failing, { prepared, planned, round, rounds, runIds }, context);
    results = addRetryRound(results, again.reported, again.cases);
    if (again.reported.shortfall === null) continue;
    context.logger.warning(
      `${first.name}: round ${round}, of ${formatCount(failing.length, 'failed case')}, was not completed and counts for nothing: ${again.reported.shortfall}`,
    );
    break;
  }
  return results;
}

/** Checks if the failures decide the verdict, so that running the cases again can change it. */
function isJudgeable(results: SuiteResults, requirements: SuiteRequirements, today: string): boolean {
  const { counted } = splitQuarantine(results.cases, requirements, today);
  const gaps = listGaps([results], { counted, tolerated: requirements.budgets.infrastructureErrors });
  return gaps.length === 0 || (results.interruption === null && canBeDecided([results], gaps));
}

interface Round {
  prepared: PreparedSuite;
  planned: PlannedSuite;
  round: number;
  /** The most rounds that the policy allows. */
  rounds: number;
  /** The ids of the earlier runs, none of which a round may get again. */
  runIds: Set<string | undefined>;
}

async function runAgain(
  failing: readonly CaseResults[],
  { prepared, planned, round, rounds, runIds }: Round,
  context: SuiteRunContext & { timeoutMs: number },
): Promise<{ reported: RetryRound; cases: CaseResults[] }> {
  const base = { round, cases: failing.length, run: null };
  const name = `${prepared.outline.name} (retry ${round} of ${rounds})`;
  const ids = new Set(failing.map(({ id }) => id));
  const selected = selectPrepared(prepared, { ids, name });
  if (selected === null) {
    return { reported: { ...base, shortfall: 'The service does not say which of its cases they are.' }, cases: [] };
  }
  // A round that exceeds a budget cancels itself, and not the suites after it.
  using lifetime = startRunLifetime(context.clock, {
    timeoutMs: context.timeoutMs,
    signal: context.lifetime.cancelRun,
  });
  if (context.lifetime.cancelRun.aborted) {
    return {
      reported: { ...base, shortfall: explainInterruption(context.lifetime.cancelRun.reason).message },
      cases: [],
    };
  }
  const again = { prepared: selected, round };
  const { results } = await rerunSuite(planned, again, { ...context, lifetime, evidence: noEvidence });
  const { run, runUrl } = results;
  const isStale = run !== null && runIds.has(run.id);
  runIds.add(run?.id);
  const [gap] = listGaps([results], { counted: results.cases, tolerated: null });
  return {
    reported: {
      ...base,
      run: run === null ? null : { id: run.id, suiteId: run.suiteId, status: run.status, url: runUrl },
      shortfall: isStale ? 'The service returned an earlier run instead of a new one.' : (gap?.message ?? null),
    },
    cases: isStale ? [] : results.cases,
  };
}

interface RanSuites {
  planned: readonly PlannedSuite[];
  ran: readonly RanSuite[];
  /** The retries replace these results. */
  measured: Array<Pick<RanSuite, 'results' | 'requirements'>>;
  servers: Pick<TestServers, 'find'>;
}

/** Runs the failed cases of every suite again, after all first runs, so that no failure of a retry removes a verdict. */
export async function retrySuites(
  { planned: suites, ran, measured, servers }: RanSuites,
  context: Omit<SuiteRunContext, 'servers'> & { timeoutMs: number },
): Promise<void> {
  for (const [index, planned] of suites.entries()) {
    const suite = ran[index];
    if (suite === undefined || suite.requirements.retryFailed.value === 0) continue;
    const results = await retryFailed(suite, planned, { ...context, servers: servers.find(planned) });
    measured[index] = { ...suite, results };
  }
}
