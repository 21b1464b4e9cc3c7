import type { QuarantineEntry, SuiteRequirements } from '../model/policy.ts';
import type { CaseResults } from '../model/results.ts';
import type { Assessment } from './assessment.ts';

/** The quarantine entry of a case that does not count. */
export interface QuarantinedCase extends QuarantineEntry {
  caseId: string;
}

/** The rules that decide which cases count. */
type Exemptions = Pick<SuiteRequirements, 'quarantine' | 'probation'>;

export interface QuarantineSplit {
  counted: CaseResults[];
  quarantined: QuarantinedCase[];
}

/** Splits off the cases that are on probation, or that have an entry that applies on this day, `YYYY-MM-DD`. */
export function splitQuarantine(
  cases: readonly CaseResults[],
  { quarantine, probation }: Exemptions,
  today: string,
): QuarantineSplit {
  const quarantined = cases.flatMap((testCase) => {
    const entry = quarantine.find((entry) => entry.case === testCase.id && !hasExpired(entry, today));
    return entry === undefined ? [] : [{ ...entry, caseId: testCase.id }];
  });
  const ids = new Set([...quarantined.map(({ caseId }) => caseId), ...probation.map((probation) => probation.case)]);
  return { counted: cases.filter(({ id }) => !ids.has(id)), quarantined };
}

/** Checks if a case is on probation, or has an entry that applies on this day. */
export function isExempt(caseId: string, { quarantine, probation }: Exemptions, today: string): boolean {
  const isQuarantined = quarantine.some((entry) => entry.case === caseId && !hasExpired(entry, today));
  return isQuarantined || probation.some((entry) => entry.case === caseId);
}

/** Judges every entry: it must go when its day has passed, when its case is gone, or when its case passes every iteration again. */
export function assessQuarantine(
  cases: readonly CaseResults[],
  { quarantine, onStaleQuarantine }: Pick<SuiteRequirements, 'quarantine' | 'onStaleQuarantine'>,
  today: string,
): Assessment[] {
  return quarantine.map((entry) => {
    const { owner, reason, expires, source } = entry;
    const testCase = cases.find(({ id }) => id === entry.case);
    const base = {
      kind: 'quarantine' as const,
      scope: 'case' as const,
      subject: testCase?.title ?? entry.case,
      requirement: `does not count until ${expires} (${owner}: ${reason})`,
      source,
      isDecisive: onStaleQuarantine.value === 'fail',
      ...(testCase === undefined ? {} : { caseId: testCase.id }),
    };
    const name = JSON.stringify(base.subject);
    if (testCase === undefined) {
      const finding = `The case ${name} in quarantine (from ${source}) is gone; take the entry out.`;
      return { ...base, code: 'quarantine-stale', state: 'not-met', finding };
    }
    if (hasExpired(entry, today)) {
      const finding = `The quarantine of ${name} (from ${source}, ${owner}) ended on ${expires}, so that it counts again; mend the case or decide anew.`;
      return { ...base, code: 'quarantine-expired', state: 'not-met', finding };
    }
    if (testCase.passed > 0 && testCase.passed === testCase.planned && testCase.failed + testCase.unscored === 0) {
      const finding = `The case ${name} in quarantine (from ${source}, ${owner}) passes again; take the entry out.`;
      return { ...base, code: 'quarantine-stale', state: 'not-met', finding };
    }
    const finding = `The case ${name} is in quarantine until ${expires} (${owner}: ${reason}).`;
    return { ...base, code: 'minimum-met', state: 'met', finding };
  });
}

/** Compares days as text, which orders them. */
function hasExpired({ expires }: QuarantineEntry, today: string): boolean {
  return expires < today;
}
