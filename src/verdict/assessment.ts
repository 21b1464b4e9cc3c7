import type { RequirementReport } from '../model/report.ts';
import type { VerdictReason } from '../model/verdict.ts';

/** The result of one requirement, and the code of its reason for a verdict. */
export interface Assessment extends RequirementReport {
  code: VerdictReason['code'];
  caseId?: string;
}

export function toReason({ code, finding, caseId }: Assessment): VerdictReason {
  return { code, message: finding, ...(caseId === undefined ? {} : { caseId }) };
}

export function toRequirementReport(assessment: Assessment): RequirementReport {
  const { kind, scope, subject, requirement, source, state, isDecisive, finding } = assessment;
  return { kind, scope, subject, requirement, source, state, isDecisive, finding };
}
