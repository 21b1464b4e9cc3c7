import type { CaseReport } from '../model/case-report.ts';
import type { VerdictOutcome } from '../model/verdict.ts';
import { describeFlaky, describeTrial } from './rounds.ts';
import { outcomeMarks } from './wording.ts';

/** Marks a case: a failure that does not count is worth a look, and is not shown as a failure. */
export function markCase(testCase: CaseReport): string {
  return outcomeMarks[chooseMark(testCase)];
}

/** The mark of a case, as the outcome that it looks like. */
export function chooseMark({ outcome, disposition }: CaseReport): VerdictOutcome {
  return disposition === 'failed' || disposition === 'tolerated' || outcome === 'passed' ? outcome : 'inconclusive';
}

/** Says what is special about a case, after its title: ` (required)`, or nothing. */
export function describeStanding(member: CaseReport): string {
  const required = member.required && member.quarantine === null ? ['required'] : [];
  const words = [...required, ...describeExemption(member)];
  return words.length === 0 ? '' : ` (${words.join('; ')})`;
}

/** Why a case may count in another way than its outcome; empty for most cases. */
export function describeExemption(member: CaseReport): string[] {
  if (member.quarantine !== null) return ['in quarantine'];
  return [describeTrial(member), describeFlaky(member)].filter((word) => word !== null);
}
