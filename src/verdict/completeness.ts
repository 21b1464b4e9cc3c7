import { endSentence, extendFirstLine, formatCount, readFirstLine } from '../base/text.ts';
import { lastLinesHeading } from '../model/process-end.ts';
import { describeSource, type Sourced } from '../model/source.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import { type Run, isTerminalStatus } from '../model/run.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { countRead, countScored, sum } from './count.ts';

/** Checks if the iterations that were read of a completed run differ from those that its service counts. */
export function disagreesWithService(results: SuiteResults): boolean {
  const { run } = results;
  if (run?.status !== 'completed') return false;
  return [...listCountGaps(results), ...listPassedGaps(results)].length > 0;
}

interface CountedCases {
  /** The cases that count. */
  counted: readonly CaseResults[];
  /** Ids of the cases on probation. */
  onProbation?: readonly string[];
  /** The number of iterations without a result that is tolerated, in the cases that count. */
  tolerated: Sourced<number> | null;
}

/**
 * Lists the reasons why the results of one suite's runs give no verdict at all, the cause before its consequences. An interruption explains
 * every wrong count of a run, so counts are checked only in runs without one.
 */
export function listGaps(
  runs: readonly SuiteResults[],
  { counted, onProbation = [], tolerated }: CountedCases,
): VerdictReason[] {
  const causes = runs.flatMap(listCauses);
  const whole = runs.filter((results) => listCauses(results).length === 0);
  const counting = new Set(counted);
  const lacksResults = ({ cases }: SuiteResults) =>
    cases.some((testCase) => testCase.unscored > 0 && counting.has(testCase));
  const excluded = runs.flatMap(({ cases }) => cases).filter((testCase) => !counting.has(testCase));
  return [
    ...causes,
    // A call that a break cut off has no result, and the break is the reason.
    ...whole.filter(lacksResults).flatMap(listBreaks),
    ...whole.flatMap(listCountGaps),
    ...(causes.length > 0 ? [] : listScoreGaps(counted, { tolerated, excluded, onProbation })),
    ...whole.flatMap(listUnknownGaps),
    ...whole.flatMap(listContradictions),
    ...whole.flatMap(listPassedGaps),
  ];
}

/** Does the same for one run alone, whichever of its cases count. */
export function listRunGaps(results: SuiteResults): VerdictReason[] {
  const causes = listCauses(results);
  if (causes.length > 0) return causes;
  return [
    ...listCountGaps(results),
    ...listUnknownGaps(results),
    ...listContradictions(results),
    ...listPassedGaps(results),
  ];
}

/** Lists what cut a run short. */
function listCauses(results: SuiteResults): VerdictReason[] {
  const { interruption, run } = results;
  const causes = interruption === null ? [] : [interruption];
  if (run === null) return causes.length > 0 ? causes : [{ code: 'run-not-created', message: 'No run was created.' }];
  // If the gate interrupted a run, the gate itself caused the status; the service's note may still say more.
  if (interruption !== null && run.notes === null) return causes;
  return [...causes, ...listStatusGaps(run, results)];
}

/** Explains why a failure is not attributed to the server: a call that a break cut off looks like a call that the server failed. */
export function listBreaks({ tunnelBreaks }: SuiteResults): VerdictReason[] {
  if (tunnelBreaks === 0) return [];
  const often = formatCount(tunnelBreaks, 'time');
  const message = `The tunnel broke off ${often} during the run, and the calls under way with it, so what failed may not be the server's doing; run the job again.`;
  return [{ code: 'tunnel-lost', message }];
}

function listStatusGaps({ status, notes }: Run, results: SuiteResults): VerdictReason[] {
  if (status === 'completed') return [];
  // A run that ended by itself without a verdict names the case without an answer, and cannot know that the tunnel was the reason.
  const causes = status === 'failed' && results.interruption === null ? listBreaks(results) : [];
  const what = isTerminalStatus(status) ? 'The run ended as' : 'The run was last seen as';
  const end = `${what} ${status}, which carries no verdict.`;
  const first = notes === null ? '' : readFirstLine(notes);
  // The service knows the cause. The last output of a process may follow it on further lines.
  const message = notes === null ? end : extendFirstLine(`${endSentence(first)}${notes.slice(first.length)}`, end);
  return [...causes, { code: 'run-not-completed', message }];
}

function listCountGaps(results: SuiteResults): VerdictReason[] {
  const { cases, iterationsRead, run } = results;
  const planned = sum(cases, (testCase) => testCase.planned);
  const reasons: VerdictReason[] = [];
  const add = (isContradiction: boolean, message: string) =>
    reasons.push({ code: isContradiction ? 'results-inconsistent' : 'iterations-missing', message });
  if (!results.isComplete) {
    add(false, `Not every page of iterations could be read, only ${formatCount(iterationsRead, 'iteration')}.`);
  }
  const reported = run?.summary?.total ?? iterationsRead;
  if (reported !== iterationsRead) {
    // More iterations than requested, or fewer than were read, is a count that further reading cannot reach.
    const isContradiction = reported < iterationsRead || reported > planned;
    add(isContradiction, `The service counts ${formatCount(reported, 'iteration')}, ${iterationsRead} could be read.`);
  }
  const deviating = cases.filter((testCase) => countRead(testCase) !== testCase.planned);
  const [first] = deviating;
  const hasTooMany = cases.some((testCase) => countRead(testCase) > testCase.planned);
  if (planned !== iterationsRead) {
    const message = `Of ${formatCount(planned, 'planned iteration')}, ${iterationsRead} could be read.`;
    add(hasTooMany || iterationsRead > planned, message);
  } else if (first !== undefined) {
    const message = `The service returned other numbers of iterations than were planned for ${formatCount(deviating.length, 'case')}: for "${first.title}", ${countRead(first)} instead of ${first.planned}.`;
    add(true, message);
  }
  return reasons;
}

function listScoreGaps(
  counted: readonly CaseResults[],
  { tolerated, excluded, onProbation }: Required<Omit<CountedCases, 'counted'>> & { excluded: readonly CaseResults[] },
): VerdictReason[] {
  const { scored } = countScored(counted);
  const unscored = sum(counted, (testCase) => testCase.unscored);
  const reasons: VerdictReason[] = [];
  if (scored === 0) reasons.push(explainNothingScored(excluded, onProbation));
  if (unscored > (tolerated?.value ?? 0)) {
    // If the gate itself could not judge, the service's own pages will not show the reason.
    const unjudged = counted.flatMap(({ failures }) => failures).find(({ result }) => result === 'unscored');
    const budget = tolerated === null ? '' : `, the budget is ${tolerated.value} (${describeSource(tolerated.source)})`;
    const message = `${formatCount(unscored, 'iteration')} ended without a result${budget}.`;
    const [why, ...below] = unjudged?.reasons[0]?.split('\n') ?? [];
    const output = below[0] === lastLinesHeading ? below.slice(1) : [];
    reasons.push({
      code: 'results-unknown',
      message: why === undefined ? message : `${message} ${why}`,
      ...(output.length === 0 ? {} : { output }),
    });
  }
  return reasons;
}

/** Explains why nothing was scored. Names probation only if nothing else keeps results from counting. */
function explainNothingScored(excluded: readonly CaseResults[], onProbation: readonly string[]): VerdictReason {
  const scored = excluded.filter((testCase) => testCase.passed + testCase.failed > 0);
  if (scored.length > 0 && scored.every(({ id }) => onProbation.includes(id))) {
    return {
      code: 'only-probation',
      message: `Every case that has results is on probation (${formatCount(scored.length, 'case')}), so none counts yet.`,
    };
  }
  const counting = excluded.length > 0 ? ' of a case that counts' : '';
  return { code: 'no-iterations', message: `No iteration${counting} was scored, so nothing was shown.` };
}

function listUnknownGaps({ unknownIterations }: SuiteResults): VerdictReason[] {
  if (unknownIterations === 0) return [];
  const message = `${formatCount(unknownIterations, 'iteration')} could not be matched with a case of this suite.`;
  return [{ code: 'results-inconsistent', message }];
}

function listContradictions({ contradicted }: SuiteResults): VerdictReason[] {
  if (contradicted === 0) return [];
  const message = `The service gave different results for the same iteration (${formatCount(contradicted, 'iteration')}), so neither counts.`;
  return [{ code: 'results-inconsistent', message }];
}

/**
 * Lists differences between the service's count of passes and the results that it reported. Checks only passes, because services count
 * time-outs in different ways.
 */
function listPassedGaps({ cases, overruled, iterationsRead, run }: SuiteResults): VerdictReason[] {
  const readPassed = sum(cases, (testCase) => testCase.passed) + overruled;
  const { passed = readPassed, total = iterationsRead } = run?.summary ?? {};
  if (passed === readPassed) return [];
  // Iterations that could not be read may have passed; others cannot have.
  const isExplained = passed > readPassed && passed - readPassed <= total - iterationsRead;
  const message = `The service counts ${passed} passed, the iterations read say ${readPassed}.`;
  return [{ code: isExplained ? 'iterations-missing' : 'results-inconsistent', message }];
}

/**
 * Checks if the service contradicts itself, or returned more iterations than requested, or iterations of cases that the suite does not have.
 * An interruption of the run does not explain that.
 */
export function contradictsPlan({ cases, unknownIterations, contradicted }: SuiteResults): boolean {
  return contradicted > 0 || unknownIterations > 0 || cases.some((testCase) => countRead(testCase) > testCase.planned);
}
