import type { ReasonCode } from '../model/verdict.ts';

/** The options that can let a job go on although its verdict is inconclusive. */
export type LenientOption = 'on-inconclusive' | 'on-nothing-run';

/** What a reason says about the results, and which option covers an inconclusive verdict for this reason. */
export type ReasonRule =
  /** A requirement was judged: it is met, or it is not. Such a reason makes no verdict inconclusive. */
  | { kind: 'judged' }
  /**
   * The change lowers what the base requires. That was established before anything ran, so no missing result and no other policy takes
   * it away.
   */
  | { kind: 'protected' }
  /** The results are complete, and leave a requirement open. */
  | { kind: 'open'; option: LenientOption }
  /**
   * The results are incomplete. `areFailuresSound` says whether a failure that was read is the server's own; only then can failures
   * decide the verdict although results are missing. No option covers a `null`.
   */
  | { kind: 'gap'; option: LenientOption | null; areFailuresSound: boolean };

const judged = { kind: 'judged' } as const;
const lowered = { kind: 'protected' } as const;
const soundGap = { kind: 'gap', option: 'on-nothing-run', areFailuresSound: true } as const;
const doubtfulGap = { kind: 'gap', option: 'on-nothing-run', areFailuresSound: false } as const;

/** Every reason code. docs/exit-codes.md has the same table for readers. */
export const reasonRules: Readonly<Record<ReasonCode, ReasonRule>> = {
  'minimum-met': judged,
  'below-minimum': judged,
  'tag-below-minimum': judged,
  'case-below-minimum': judged,
  'required-failed': judged,
  regressed: judged,
  'quarantine-expired': judged,
  'quarantine-stale': judged,

  'suite-removed': lowered,
  'required-case-removed': lowered,
  'requirement-lowered': lowered,
  'quarantine-widened': lowered,
  'baseline-lowered': lowered,

  // The interval of the rate holds the minimum: the only result that is open statistically.
  'minimum-unsettled': { kind: 'open', option: 'on-inconclusive' },
  // Cases ran and have results, and probation is all that keeps them from counting.
  'only-probation': { kind: 'gap', option: 'on-inconclusive', areFailuresSound: true },
  // A requirement without a result is a result that is missing, not one that is close.
  'demand-unjudged': { kind: 'open', option: 'on-nothing-run' },

  // An iteration has no result, or was not read. The others were read, and what is missing is counted.
  'results-unknown': soundGap,
  'iterations-missing': soundGap,
  'no-iterations': soundGap,
  // The gate itself cancelled the run, by its own clock or its own count; what had ended by then stands. As a requirement, a
  // budget is judged, and this rule does not apply.
  deadline: soundGap,
  'budget-exceeded': soundGap,

  // Counts contradict each other, or iterations belong to no case: none of the results can be trusted.
  'results-inconsistent': doubtfulGap,
  // Calls after the loss fail because of it, and a hosted service reports them like failures of the server.
  'server-lost': doubtfulGap,
  'tunnel-lost': doubtfulGap,
  // The service ended the run without a verdict; it may have failed iterations that it never finished.
  'run-not-completed': doubtfulGap,
  // Nothing ran.
  'run-not-created': doubtfulGap,
  // The service cannot be reached, or answers nonsense or in circles.
  infrastructure: doubtfulGap,
  // The server was not started: a required protection must not be skipped by an option that is about results.
  'sandbox-unavailable': { kind: 'gap', option: null, areFailuresSound: false },
  // Somebody wanted no verdict, so no option makes one of it.
  cancelled: { kind: 'gap', option: null, areFailuresSound: false },
};

/** Whether failures that were read count although these reasons say that results are missing. */
export function areFailuresSound(gaps: ReadonlyArray<{ code: ReasonCode }>): boolean {
  return gaps.every(({ code }) => {
    const rule = reasonRules[code];
    return rule.kind !== 'gap' || rule.areFailuresSound;
  });
}

/** Whether a reason says that the change lowers what the base requires. */
export function isProtection({ code }: { code: ReasonCode }): boolean {
  return reasonRules[code].kind === 'protected';
}

/**
 * Lists the options that all have to let an inconclusive verdict pass before the job may go on; null where none can. A requirement that
 * is not met stands next to the reason why the verdict is inconclusive all the same, which decides.
 */
export function listLenientOptions(reasons: ReadonlyArray<{ code: ReasonCode }>): LenientOption[] | null {
  const options = reasons.flatMap(({ code }) => {
    const rule = reasonRules[code];
    return rule.kind === 'judged' || rule.kind === 'protected' ? [] : [rule.option];
  });
  const given = options.filter((option) => option !== null);
  return given.length === 0 || given.length < options.length ? null : [...new Set(given)];
}
