/** Ours, after policy. `inconclusive` means that nothing was established; it is not a failure in disguise. */
export type VerdictOutcome = 'passed' | 'failed' | 'inconclusive';

/** Why the verdict is what it is, most decisive first. Codes are stable; messages are for people. */
export interface VerdictReason {
  code:
    | 'minimum-met'
    | 'below-minimum'
    | 'minimum-unsettled'
    | 'tag-below-minimum'
    | 'case-below-minimum'
    | 'required-failed'
    | 'regressed'
    | 'demand-unjudged'
    | 'budget-exceeded'
    | 'quarantine-expired'
    | 'quarantine-stale'
    | 'run-not-completed'
    | 'run-not-created'
    | 'no-iterations'
    | 'iterations-missing'
    | 'results-unknown'
    | 'server-lost'
    | 'tunnel-lost'
    | 'deadline'
    | 'cancelled'
    | 'infrastructure';
  message: string;
  suiteId?: string;
  caseId?: string;
}

export interface Verdict {
  outcome: VerdictOutcome;
  reasons: VerdictReason[];
}
