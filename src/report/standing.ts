import type { CaseReport } from '../model/report.ts';
import { describeFlaky, describeTrial, isLetPass } from './rounds.ts';
import { outcomeMarks } from './wording.ts';

/** Marks a case by its outcome. What is held against nothing is worth a look, and no failure. */
export function markCase({ flaky, trial, outcome }: CaseReport): string {
  return isLetPass({ flaky, trial }) && outcome !== 'passed' ? outcomeMarks.inconclusive : outcomeMarks[outcome];
}

/** Says what is special about a case, after its title: ` (required)`, or nothing. */
export function describeStanding(member: CaseReport): string {
  if (member.quarantine !== null) return ' (in quarantine)';
  const words = [member.required ? 'required' : null, describeTrial(member), describeFlaky(member)].filter(
    (word) => word !== null,
  );
  return words.length === 0 ? '' : ` (${words.join('; ')})`;
}
