import { formatCount } from '../base/count.ts';
import { computePassRate, formatMinimumPassRate, formatPassRate, meetsMinimumPassRate } from '../model/rate.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import { type Run, isTerminalStatus } from '../model/run.ts';
import type { Verdict, VerdictReason } from '../model/verdict.ts';

/**
 * Judges one suite's run: `passed` only where everything was read and every demand is met, `failed` only where
 * everything was read and a demand is not, `inconclusive` for all else. Pure, in integers; the same results give the
 * same verdict in whatever order they were counted. `findings` are demands on the whole gate that are not met; those of
 * this suite fail it.
 */
export function judgeSuite(results: SuiteResults, findings: readonly VerdictReason[] = []): Verdict {
  const gaps = listGaps(results);
  if (gaps.length > 0) return { outcome: 'inconclusive', reasons: nameSuite(results, gaps) };
  const failings = [...listFailings(results), ...findings.filter(({ suiteId }) => suiteId === results.suiteId)];
  if (failings.length > 0) return { outcome: 'failed', reasons: nameSuite(results, failings) };
  return {
    outcome: 'passed',
    reasons: nameSuite(results, [{ code: 'minimum-met', message: describePassRate(results) }]),
  };
}

/**
 * Joins the suites' verdicts: one that failed decides, then one that is inconclusive; a gate without suites has
 * established nothing. Reasons keep the suites' order within each outcome, the decisive outcome first.
 */
export function judgeGate(verdicts: readonly Verdict[]): Verdict {
  const ranked = (['failed', 'inconclusive', 'passed'] as const).map((outcome) => ({
    outcome,
    members: verdicts.filter((verdict) => verdict.outcome === outcome),
  }));
  const decisive = ranked.find(({ members }) => members.length > 0);
  if (decisive === undefined) {
    return {
      outcome: 'inconclusive',
      reasons: [{ code: 'no-iterations', message: 'No suite ran, so nothing was established.' }],
    };
  }
  return {
    outcome: decisive.outcome,
    reasons: ranked.flatMap(({ members }) => members.flatMap(({ reasons }) => reasons)),
  };
}

/** Whether the iterations that were read of a completed run are not those that its service counts. */
export function disagreesWithService(results: SuiteResults): boolean {
  const { run } = results;
  if (run?.status !== 'completed') return false;
  return [...listCountGaps(results, run), ...listPassedGaps(results, run)].length > 0;
}

function nameSuite(results: SuiteResults, reasons: readonly VerdictReason[]): VerdictReason[] {
  return reasons.map((reason) => ({ ...reason, suiteId: results.suiteId }));
}

/**
 * What keeps the results from being a verdict at all, the cause before its consequences: a run that was cut short explains
 * every count that is off, so the counts are only looked at where nothing did.
 */
function listGaps(results: SuiteResults): VerdictReason[] {
  const { interruption, run } = results;
  const causes = interruption === null ? [] : [interruption];
  if (run === null) return causes.length > 0 ? causes : [{ code: 'run-not-created', message: 'No run was created.' }];
  // After an interruption of ours the status is our own doing; what the service noted may still tell more.
  if (interruption === null || run.notes !== null) causes.push(...listRunGaps(run));
  return causes.length > 0 ? causes : [...listCountGaps(results, run), ...listResultGaps(results, run)];
}

function listRunGaps({ status, notes }: Run): VerdictReason[] {
  if (status === 'completed') return [];
  const what = isTerminalStatus(status) ? 'The run ended as' : 'The run was last seen as';
  const why = notes === null ? '.' : `: ${notes}`;
  return [{ code: 'run-not-completed', message: `${what} ${status}, which carries no verdict${why}` }];
}

function listCountGaps(results: SuiteResults, run: Run): VerdictReason[] {
  const { cases, iterationsRead } = results;
  const planned = sum(cases, (member) => member.planned);
  const messages: string[] = [];
  if (!results.isComplete) {
    messages.push(`Not every page of iterations could be read, only ${formatCount(iterationsRead, 'iteration')}.`);
  }
  const reported = run.summary?.total ?? iterationsRead;
  if (reported !== iterationsRead) {
    messages.push(`The service counts ${formatCount(reported, 'iteration')}, ${iterationsRead} could be read.`);
  }
  const deviating = cases.filter((member) => countRead(member) !== member.planned);
  const [first] = deviating;
  if (planned !== iterationsRead) {
    messages.push(`Of ${formatCount(planned, 'planned iteration')}, ${iterationsRead} could be read.`);
  } else if (first !== undefined) {
    messages.push(
      `Planned and read iterations differ in ${formatCount(deviating.length, 'case')}, first in "${first.title}": ${first.planned} planned, ${countRead(first)} read.`,
    );
  }
  return messages.map((message) => ({ code: 'iterations-missing', message }));
}

function listResultGaps(results: SuiteResults, run: Run): VerdictReason[] {
  const { cases, unknownIterations } = results;
  const passed = sum(cases, (member) => member.passed);
  const scored = passed + sum(cases, (member) => member.failed);
  const unscored = sum(cases, (member) => member.unscored);
  const reasons: VerdictReason[] = [];
  if (scored === 0) reasons.push({ code: 'no-iterations', message: 'No iteration was scored, so nothing was shown.' });
  if (unscored > 0) {
    // Where it was us who could not tell, the service's own pages will not say why.
    const unjudged = cases.flatMap(({ failures }) => failures).find(({ result }) => result === 'unscored');
    const message = `${formatCount(unscored, 'iteration')} ended without a result.`;
    reasons.push({ code: 'results-unknown', message: [message, ...(unjudged?.reasons.slice(0, 1) ?? [])].join(' ') });
  }
  if (unknownIterations > 0) {
    reasons.push({
      code: 'results-unknown',
      message: `${formatCount(unknownIterations, 'iteration')} could not be matched with a case of this suite.`,
    });
  }
  return [...reasons, ...listPassedGaps(results, run)];
}

/** How a service counts a time-out varies, so only its count of passes is held against what it told of each iteration. */
function listPassedGaps({ cases, overruled }: SuiteResults, run: Run): VerdictReason[] {
  const readPassed = sum(cases, (member) => member.passed) + overruled;
  const reportedPassed = run.summary?.passed ?? readPassed;
  if (reportedPassed === readPassed) return [];
  const message = `The service counts ${reportedPassed} passed, the iterations read say ${readPassed}.`;
  return [{ code: 'results-unknown', message }];
}

/** The demands that complete results do not meet. */
function listFailings(results: SuiteResults): VerdictReason[] {
  const { cases, minimumPassRate } = results;
  const { passed, scored } = countScored(cases);
  const belowMinimum: VerdictReason[] = meetsMinimumPassRate(passed, scored, minimumPassRate)
    ? []
    : [{ code: 'below-minimum', message: describePassRate(results) }];
  const requiredFailed = cases
    .filter((member) => member.isRequired && (member.failed > 0 || member.passed === 0))
    .map((member): VerdictReason => ({
      code: 'required-failed',
      message: `The required case "${member.title}" failed ${member.failed} of ${formatCount(countRead(member), 'iteration')}.`,
      caseId: member.id,
    }));
  return [...belowMinimum, ...requiredFailed];
}

function describePassRate({ cases, minimumPassRate, minimumPassRateSource }: SuiteResults): string {
  const { passed, scored } = countScored(cases);
  const rate = formatPassRate(computePassRate(passed, scored));
  const source = minimumPassRateSource === 'default' ? 'the default' : `from ${minimumPassRateSource}`;
  return `${passed} of ${formatCount(scored, 'iteration')} passed (${rate}), the minimum is ${formatMinimumPassRate(minimumPassRate)} (${source})`;
}

function countScored(cases: readonly CaseResults[]): { passed: number; scored: number } {
  const passed = sum(cases, (member) => member.passed);
  return { passed, scored: passed + sum(cases, (member) => member.failed) };
}

function countRead(member: CaseResults): number {
  return member.passed + member.failed + member.unscored;
}

function sum<T>(items: readonly T[], measure: (item: T) => number): number {
  return items.reduce((total, item) => total + measure(item), 0);
}
