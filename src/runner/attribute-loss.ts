import { type CaseOutcome, failByLoss, withholdResult } from '../engine/outcome.ts';
import { describeProcessEnd, lastLinesHeading, type ProcessEnd } from '../model/process-end.ts';

/**
 * Decides the result of an iteration whose server process may have ended during it; `again` if the iteration has to run once more, alone
 * on a fresh process, to find out.
 *
 * The end of a process is evidence against an iteration only if the process served no other iteration and a request was open. A process
 * that ended before it gave the iteration a session says nothing about the case.
 */
export function attributeLoss(outcome: CaseOutcome): CaseOutcome | 'again' {
  const { loss } = outcome;
  if (loss === null) return outcome;
  if (!loss.isOwn) return 'again';
  return loss.isDuringCall ? failByLoss(outcome) : outcome;
}

/** An iteration that ran twice: first next to others, when the process that they shared ended, and then alone. */
export interface Repeated {
  shared: CaseOutcome;
  alone: CaseOutcome;
}

/**
 * Decides the result of each repeated iteration. It fails if the process ends again. If it passes alone, it passes only if the first end
 * is explained: another iteration ended the process again, the code was 0, which is no crash, or the iteration had no request open.
 * Otherwise the crash cannot be attributed to a case, and the iteration has no result.
 */
export function settleRepeated(repeated: readonly Repeated[]): CaseOutcome[] {
  const explained = new Set<ProcessEnd>();
  for (const { shared, alone } of repeated) {
    if (isCulprit(alone) && shared.loss !== null) explained.add(shared.loss.end);
  }
  return repeated.map(({ shared, alone }) => {
    if (isCulprit(alone)) return failByLoss(alone);
    const { loss } = shared;
    const isInnocent = loss === null || !loss.isDuringCall || loss.end.exitCode === 0 || explained.has(loss.end);
    if (alone.result !== 'passed' || isInnocent) return alone;
    return withholdResult(alone, describeUnexplained(loss.end));
  });
}

function isCulprit({ loss }: CaseOutcome): boolean {
  return loss !== null && loss.isOwn && loss.isDuringCall;
}

function describeUnexplained(end: ProcessEnd): string {
  const sentence = `The server ${describeProcessEnd(end)} under this iteration and did not when the iteration was run again alone, so the crash cannot be attributed to a case.`;
  return end.lastLines.length === 0 ? sentence : [sentence, lastLinesHeading, ...end.lastLines].join('\n');
}
