import { formatCount } from '../base/text.ts';
import type { SuitePolicy, SuiteRequirements } from '../model/policy.ts';
import type { SuiteResults } from '../model/results.ts';
import type { VerdictReason } from '../model/verdict.ts';
import type { Assessment } from './assessment.ts';
import { completeCases, countOutstanding } from './bounds.ts';
import { countScored, sum } from './count.ts';
import { assessRules } from './assess-rates.ts';
import { listGaps } from './completeness.ts';
import { splitQuarantine } from './quarantine.ts';

/**
 * Decides if the verdict on a suite is settled while iterations are outstanding: returns the verdict that all possible results of these
 * iterations lead to; null while it is open.
 *
 * A requirement that counts passes is met by more of them and never by fewer, so two completions show all: the one in which everything
 * outstanding passes, and the one in which all of it fails. Requirements of another kind leave the verdict open: an interval can move either
 * way, and a budget of time or tokens depends on more than results.
 */
export function decideEarly(results: SuiteResults, { requirements, today }: SuitePolicy): 'passed' | 'failed' | null {
  const { counted } = splitQuarantine(results.cases, requirements, today);
  const isSound = results.unknownIterations === 0 && results.interruption === null;
  if (!isSound || requirements.confidence !== null || countScored(counted).scored === 0) return null;
  const decide = (isPassing: boolean) =>
    assessCompletion(results, { requirements, today }, isPassing).filter(({ isDecisive }) => isDecisive);
  if (decide(true).some(({ state }) => state === 'not-met')) return 'failed';
  return !hasOtherRequirements(requirements) && decide(false).every(({ state }) => state === 'met') ? 'passed' : null;
}

/**
 * Judges the requirements of a run that was stopped when its verdict was settled, by the iterations that ran. A requirement that the
 * outstanding iterations could still have decided is open, and decides nothing.
 */
export function assessStopped(results: SuiteResults, policy: SuitePolicy): Assessment[] {
  const outstanding = formatCount(sum(results.cases, countOutstanding), 'iteration');
  const best = assessCompletion(results, policy, true);
  const worst = assessCompletion(results, policy, false);
  const { counted } = splitQuarantine(results.cases, policy.requirements, policy.today);
  return assessRules(results, counted, policy.requirements).map((assessment, index) => {
    const settled = best[index]?.state === worst[index]?.state ? best[index] : undefined;
    if (settled === undefined || !settled.isDecisive) {
      return {
        ...assessment,
        code: 'requirement-unjudged',
        state: 'unknown',
        isDecisive: false,
        finding: `Open when the run was stopped early: ${assessment.finding}`,
      };
    }
    const finding = `${assessment.finding.replace(/\.$/, '')}; stopped early, since ${outstanding} outstanding could not change that`;
    return { ...settled, finding };
  });
}

/** Lists what a stopped run lacks in addition to the outstanding iterations. */
export function listStoppedGaps(results: SuiteResults): VerdictReason[] {
  const run = results.run?.status === 'cancelled' ? { ...results.run, status: 'completed' } : results.run;
  const tolerated = { value: Infinity, source: 'stopEarly' };
  return listGaps([{ ...results, run }], { counted: results.cases, tolerated });
}

/** Judges the requirements as if everything outstanding passes, or as if all of it fails. */
function assessCompletion(
  results: SuiteResults,
  { requirements, today }: SuitePolicy,
  isPassing: boolean,
): Assessment[] {
  const cases = completeCases(results.cases, isPassing);
  return assessRules({ ...results, cases }, splitQuarantine(cases, requirements, today).counted, requirements);
}

/** Checks if more passes can break a requirement, or if something other than passes decides one. */
function hasOtherRequirements({ budgets, quarantine, onStaleQuarantine }: SuiteRequirements): boolean {
  return (
    budgets.tokens !== null ||
    budgets.cost !== null ||
    (budgets.modelCalls !== null && budgets.modelCalls.source !== 'default') ||
    budgets.p95IterationMs !== null ||
    budgets.wallTimeMs !== null ||
    (onStaleQuarantine.value === 'fail' && quarantine.length > 0)
  );
}
