import { formatCount } from '../base/count.ts';
import { type Demanded, describeSource } from '../model/policy.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import { type Run, isTerminalStatus } from '../model/run.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { countRead, sum } from './count.ts';

/** Whether the iterations that were read of a completed run are not those that its service counts. */
export function disagreesWithService(results: SuiteResults): boolean {
  const { run } = results;
  if (run?.status !== 'completed') return false;
  return [...listCountGaps(results, run), ...listPassedGaps(results, run)].length > 0;
}

/**
 * Lists what keeps the results from being a verdict at all, the cause before its consequences: a run that was cut short
 * explains every count that is off, so the counts are only looked at where nothing did. `counted` are the cases that
 * count, and `tolerated` is how many of their iterations may have no result.
 */
export function listGaps(
  results: SuiteResults,
  { counted, tolerated }: { counted: readonly CaseResults[]; tolerated: Demanded<number> | null },
): VerdictReason[] {
  const { interruption, run } = results;
  const causes = interruption === null ? [] : [interruption];
  if (run === null) return causes.length > 0 ? causes : [{ code: 'run-not-created', message: 'No run was created.' }];
  // After an interruption of ours the status is our own doing; what the service noted may still tell more.
  if (interruption === null || run.notes !== null) causes.push(...listRunGaps(run, results));
  if (causes.length > 0) return causes;
  return [
    ...listCountGaps(results, run),
    ...listScoreGaps(counted, { tolerated, isPartial: counted.length < results.cases.length }),
    ...listUnknownGaps(results),
    ...listContradictions(results),
    ...listPassedGaps(results, run),
  ];
}

/** Why a failure is not held against the server: a call that a break cut off looks like one that the server failed. */
export function listBreaks({ tunnelBreaks }: SuiteResults): VerdictReason[] {
  if (tunnelBreaks === 0) return [];
  const often = formatCount(tunnelBreaks, 'time');
  const message = `The tunnel broke off ${often} during the run, and the calls under way with it, so what failed may not be the server's doing; run the job again.`;
  return [{ code: 'tunnel-lost', message }];
}

function listRunGaps({ status, notes }: Run, results: SuiteResults): VerdictReason[] {
  if (status === 'completed') return [];
  // A run that ended by itself without a verdict says which case got no answer, and cannot know that the tunnel was why.
  const causes = status === 'failed' && results.interruption === null ? listBreaks(results) : [];
  const what = isTerminalStatus(status) ? 'The run ended as' : 'The run was last seen as';
  const why = notes === null ? '.' : `: ${notes}`;
  return [...causes, { code: 'run-not-completed', message: `${what} ${status}, which carries no verdict${why}` }];
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

function listScoreGaps(
  counted: readonly CaseResults[],
  { tolerated, isPartial }: { tolerated: Demanded<number> | null; isPartial: boolean },
): VerdictReason[] {
  const scored = sum(counted, (member) => member.passed + member.failed);
  const unscored = sum(counted, (member) => member.unscored);
  const reasons: VerdictReason[] = [];
  if (scored === 0) {
    const counting = isPartial ? ' of a case that counts' : '';
    reasons.push({ code: 'no-iterations', message: `No iteration${counting} was scored, so nothing was shown.` });
  }
  if (unscored > (tolerated?.value ?? 0)) {
    // Where it was us who could not tell, the service's own pages will not say why.
    const unjudged = counted.flatMap(({ failures }) => failures).find(({ result }) => result === 'unscored');
    const budget = tolerated === null ? '' : `, the budget is ${tolerated.value} (${describeSource(tolerated.source)})`;
    const message = `${formatCount(unscored, 'iteration')} ended without a result${budget}.`;
    reasons.push({ code: 'results-unknown', message: [message, ...(unjudged?.reasons.slice(0, 1) ?? [])].join(' ') });
  }
  return reasons;
}

function listUnknownGaps({ unknownIterations }: SuiteResults): VerdictReason[] {
  if (unknownIterations === 0) return [];
  const message = `${formatCount(unknownIterations, 'iteration')} could not be matched with a case of this suite.`;
  return [{ code: 'results-unknown', message }];
}

function listContradictions({ contradicted }: SuiteResults): VerdictReason[] {
  if (contradicted === 0) return [];
  const message = `The service contradicts itself about ${formatCount(contradicted, 'iteration')}: the pages it sent do not give the same result for it.`;
  return [{ code: 'results-unknown', message }];
}

/** How a service counts a time-out varies, so only its count of passes is held against what it told of each iteration. */
function listPassedGaps({ cases, overruled }: SuiteResults, run: Run): VerdictReason[] {
  const readPassed = sum(cases, (member) => member.passed) + overruled;
  const reportedPassed = run.summary?.passed ?? readPassed;
  if (reportedPassed === readPassed) return [];
  const message = `The service counts ${reportedPassed} passed, the iterations read say ${readPassed}.`;
  return [{ code: 'results-unknown', message }];
}
