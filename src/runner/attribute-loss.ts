import { type CaseOutcome, failByLoss, withholdResult } from '../engine/outcome.ts';
import { describeProcessEnd, lastLinesHeading, type ProcessEnd } from '../model/process-end.ts';

/**
 * Says what an iteration counts as whose process may have ended under it; `again` where only running it once more, alone on a
 * fresh process, can tell.
 *
 * The end of a process is evidence against an iteration only where the process served no other one and a request was open. A
 * process that ended before it gave the iteration a session says nothing about the case.
 */
export function attributeLoss(outcome: CaseOutcome): CaseOutcome | 'again' {
  const { loss } = outcome;
  if (loss === null) return outcome;
  if (!loss.isOwn) return 'again';
  return loss.isDuringCall ? failByLoss(outcome) : outcome;
}

/** An iteration that was run twice: among others, when the process ended that they shared, and alone. */
export interface Repeated {
  shared: CaseOutcome;
  alone: CaseOutcome;
}

/**
 * Says what each repeated iteration counts as. One under which the process ends again fails. One that passes alone passes only
 * where the first end is explained: by another iteration that ended the process again, by code 0, which is no crash, or
 * because it had not begun by then. Else something crashed the server that nothing can be blamed for, and the
 * iteration has no result.
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
