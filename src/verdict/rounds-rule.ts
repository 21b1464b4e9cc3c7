import { formatCount } from '../base/text.ts';
import { describeSource, type Sourced } from '../model/source.ts';
import type { SuiteRequirements } from '../model/policy.ts';
import { computePassRate, formatMinimumPassRate, formatPassRate, meetsMinimumPassRate } from '../model/rate.ts';
import type { RequirementReport } from '../model/report.ts';
import type { CaseResults, Rounds, SuiteResults } from '../model/results.ts';
import { describeFamily } from './confidence-family.ts';
import { countScored, sum } from './count.ts';
import type { ErrorRates } from './statistics/errors.ts';
import { estimateFurther, type FollowedRounds, followRounds } from './follow-rounds.ts';

/** Finds the rounds by which requirements are decided; null if the number of iterations was fixed, or if the policy decides otherwise. */
export function findRounds(
  { rounds }: Pick<SuiteResults, 'rounds'>,
  { confidence, confidenceOver }: Pick<SuiteRequirements, 'confidence' | 'confidenceOver'>,
): Rounds | null {
  return rounds === undefined || confidence === null || confidenceOver?.value === 'tasks' ? null : rounds;
}

/** Checks if iterations of a round may share the state of a process, so that only rounds are independent. */
export function sharesRounds({ processes }: Pick<Rounds, 'processes'>): boolean {
  return processes !== 'iteration';
}

const observations: Record<Rounds['processes'], string> = {
  iteration: '',
  round: ', of which each is one observation, since its iterations share a process',
  'several-rounds':
    ', of which each is one observation, since its iterations share a process; that rounds share no state is an assumption, since a process serves several',
};

/**
 * Judges the pass rate of cases that ran in rounds: by the first round that decided it, else unknown, with the number of iterations that
 * would probably settle it. A decision of a round stands, whatever is missing later; only a count of recorded answers needs all results
 * (`isComplete`).
 */
export function assessRounds(
  cases: readonly CaseResults[],
  minimum: Sourced<number>,
  {
    confidence,
    errors,
    rounds,
    isComplete,
  }: { confidence: Sourced<number>; errors: ErrorRates; rounds: Rounds; isComplete: boolean },
): Pick<RequirementReport, 'state' | 'finding' | 'requirement'> {
  const isShared = sharesRounds(rounds);
  const rule = { minimum: minimum.value, errors, min: rounds.min, isShared };
  const followed = followRounds(cases, rule);
  const { passed, scored } = countScored(cases);
  const isReached = meetsMinimumPassRate(passed, scored, minimum.value);
  const replayed = sum(cases, (testCase) => testCase.replayed.total);
  const requirement = `at least ${formatMinimumPassRate(minimum.value)} pass, with ${formatMinimumPassRate(confidence.value)} confidence`;
  const limit = `the minimum is ${formatMinimumPassRate(minimum.value)} (${describeSource(minimum.source)})`;
  const count = `${passed} of ${formatCount(scored, 'iteration')} passed (${formatPassRate(computePassRate(passed, scored))}), ${limit}`;
  const sure = `with ${formatMinimumPassRate(confidence.value)} confidence`;
  if (followed.state === 'counted') {
    const why = replayed > 0 ? 'recordings answered in all of them' : 'all cases are deterministic';
    const state = isReached ? 'met' : 'not-met';
    return {
      state: isComplete ? state : 'unknown',
      finding: `${count}; ${why}, so that the count decides`,
      requirement,
    };
  }
  const measured = `${describePath(followed, limit)}; ${describeDecision(followed, rounds)} ${sure}${describeFamily(errors)}${observations[rounds.processes]}`;
  if (followed.state === 'open') {
    return { state: 'unknown', finding: `${measured}; ${describeFurther(followed, errors)}`, requirement };
  }
  // Recorded results are no evidence, but still count.
  if (replayed > 0 && isReached !== (followed.state === 'passed')) {
    return { state: 'unknown', finding: `${measured}; the recorded iterations say otherwise`, requirement };
  }
  return { state: followed.state === 'passed' ? 'met' : 'not-met', finding: measured, requirement };
}

function describePath({ path }: FollowedRounds, limit: string): string {
  const { passed, failed } = path.at(-1) ?? { passed: 0, failed: 0 };
  const total = passed + failed;
  return `${passed} of ${formatCount(total, 'iteration')} of whole rounds passed (${formatPassRate(computePassRate(passed, total))}), ${limit}`;
}

function describeDecision({ state, decidedAfter, rounds }: FollowedRounds, { max }: Rounds): string {
  return state === 'open'
    ? `open after ${rounds} of at most ${formatCount(max, 'round')}`
    : `decided after ${decidedAfter} of at most ${formatCount(max, 'round')}`;
}

function describeFurther(followed: FollowedRounds, errors: ErrorRates): string {
  const further = estimateFurther(followed, errors);
  if (further === null) return 'the rate is so close to the minimum that no reasonable number of iterations settles it';
  const rounds = Math.ceil(further / Math.max(1, followed.varying));
  return `about ${formatCount(further, 'further iteration')} (${formatCount(rounds, 'round')}) would probably settle it at this rate`;
}
