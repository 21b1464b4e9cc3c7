import type { ReasonCode } from '../model/verdict.ts';

/** The rules of a policy that can let a job go on although its verdict is inconclusive. */
export type LenientRule = 'onInconclusive' | 'onNothingRun';

/** What a reason says about the results, and which rule of the policy covers an inconclusive verdict for this reason. */
export type ReasonRule =
  /** A requirement was judged: it is met, or it is not. Such a reason makes no verdict inconclusive. */
  | { kind: 'judged' }
  /**
   * The change lowers what the base requires, or breaks the surface that the server promised. That is established without any case, so no
   * missing result takes it away.
   */
  | { kind: 'protected' }
  /** The results are complete, and leave a requirement open. */
  | { kind: 'open'; rule: LenientRule }
  /**
   * The results are incomplete. `areFailuresSound` says whether a failure that was read is the server's own; only then can failures
   * decide the verdict although results are missing. No rule covers a `null`.
   */
  | { kind: 'gap'; rule: LenientRule | null; areFailuresSound: boolean };

const judged = { kind: 'judged' } as const;
const lowered = { kind: 'protected' } as const;
const soundGap = { kind: 'gap', rule: 'onNothingRun', areFailuresSound: true } as const;
const doubtfulGap = { kind: 'gap', rule: 'onNothingRun', areFailuresSound: false } as const;

/** Every reason code. docs/exit-codes.md has the same table for readers. */
export const reasonRules: Readonly<Record<ReasonCode, ReasonRule>> = {
  'minimum-met': judged,
  'below-minimum': judged,
  'tag-below-minimum': judged,
  'model-below-minimum': judged,
  'case-below-minimum': judged,
  'required-failed': judged,
  regressed: judged,
  'below-minimum-coverage': judged,
  'quarantine-expired': judged,
  'quarantine-stale': judged,

  'suite-removed': lowered,
  'required-case-removed': lowered,
  'requirement-lowered': lowered,
  'quarantine-widened': lowered,
  'baseline-lowered': lowered,
  // What the server shows was read from itself, and no result of a case changes that.
  'surface-changed': lowered,
  'surface-too-large': lowered,

  // The interval of the rate holds the minimum: the only result that is open statistically.
  'minimum-unsettled': { kind: 'open', rule: 'onInconclusive' },
  // Cases ran and have results, and probation is all that keeps them from counting.
  'only-probation': { kind: 'gap', rule: 'onInconclusive', areFailuresSound: true },
  // A requirement without a result is a result that is missing, not one that is close.
  'requirement-unjudged': { kind: 'open', rule: 'onNothingRun' },
  // The comparison was asked for and says nothing.
  'base-not-compared': { kind: 'open', rule: 'onNothingRun' },
  'surface-unread': { kind: 'open', rule: 'onNothingRun' },
  'coverage-unread': { kind: 'open', rule: 'onNothingRun' },

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
  // The server was not started: a required protection must not be skipped by a rule that is about results.
  'sandbox-unavailable': { kind: 'gap', rule: null, areFailuresSound: false },
  // The run was cancelled on request, so no rule makes a verdict of it.
  cancelled: { kind: 'gap', rule: null, areFailuresSound: false },
};

/** Whether failures that were read count although these reasons say that results are missing. */
export function areFailuresSound(gaps: ReadonlyArray<{ code: ReasonCode }>): boolean {
  return gaps.every(({ code }) => {
    const rule = reasonRules[code];
    return rule.kind !== 'gap' || rule.areFailuresSound;
  });
}

/** Whether a reason says that a requirement is open. */
export function isOpen({ code }: { code: ReasonCode }): boolean {
  return reasonRules[code].kind === 'open';
}

/** Whether a reason is established without any case. */
export function isProtection({ code }: { code: ReasonCode }): boolean {
  return reasonRules[code].kind === 'protected';
}

/**
 * Lists the rules that all have to let an inconclusive verdict pass before the job may go on; null where none can. A requirement that
 * is not met stands next to the reason why the verdict is inconclusive all the same, which decides.
 */
export function listLenientRules(reasons: ReadonlyArray<{ code: ReasonCode }>): LenientRule[] | null {
  const rules = reasons.flatMap(({ code }) => {
    const rule = reasonRules[code];
    return rule.kind === 'judged' || rule.kind === 'protected' ? [] : [rule.rule];
  });
  const given = rules.filter((rule) => rule !== null);
  return given.length === 0 || given.length < rules.length ? null : [...new Set(given)];
}
