/** The gate's verdict, after policy. `inconclusive` means that nothing was established; it is not a failure in disguise. */
export type VerdictOutcome = 'passed' | 'failed' | 'inconclusive';

/** Stable, unlike the messages. `verdict/reason-rules.ts` says of each what it means for the verdict and for the job. */
export type ReasonCode =
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
  | 'suite-removed'
  | 'required-case-removed'
  | 'requirement-lowered'
  | 'quarantine-widened'
  | 'baseline-lowered'
  | 'run-not-completed'
  | 'run-not-created'
  | 'no-iterations'
  | 'only-probation'
  | 'iterations-missing'
  | 'results-unknown'
  | 'results-inconsistent'
  | 'server-lost'
  | 'sandbox-unavailable'
  | 'tunnel-lost'
  | 'deadline'
  | 'cancelled'
  | 'infrastructure';

/** Why the verdict is what it is, most decisive first. */
export interface VerdictReason {
  code: ReasonCode;
  message: string;
  /** The last lines that the server wrote, oldest first, where the message is about its process. */
  output?: string[];
  suiteId?: string;
  caseId?: string;
}

export interface Verdict {
  outcome: VerdictOutcome;
  reasons: VerdictReason[];
}
