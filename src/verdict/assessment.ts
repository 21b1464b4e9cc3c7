import type { DemandReport } from '../model/report.ts';
import type { VerdictReason } from '../model/verdict.ts';

/** The result of one requirement, and the code of the reason that it gives for a verdict. */
export interface Assessment extends DemandReport {
  code: VerdictReason['code'];
  caseId?: string;
}

export function toReason({ code, finding, caseId }: Assessment): VerdictReason {
  return { code, message: finding, ...(caseId === undefined ? {} : { caseId }) };
}

export function toDemandReport(assessment: Assessment): DemandReport {
  const { kind, scope, subject, demand, source, state, isDecisive, finding } = assessment;
  return { kind, scope, subject, demand, source, state, isDecisive, finding };
}
