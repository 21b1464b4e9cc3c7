import type { ReasonCode } from '../model/verdict.ts';

/** The rules of a policy that can let a job continue although its verdict is inconclusive. */
export type LenientRule = 'onInconclusive' | 'onNothingRun';

/** The meaning of a reason for the results, and the policy rule that covers an inconclusive verdict for this reason. */
export type ReasonRule =
  /** A requirement was judged: it is met, or it is not. Such a reason makes no verdict inconclusive. */
  | { kind: 'judged' }
  /**
   * The change lowers what the base requires, or breaks the surface that the server promised. This is established without any case, so no
   * missing result changes it.
   */
  | { kind: 'protected' }
  /** The results are complete, and leave a requirement open. */
  | { kind: 'open'; rule: LenientRule }
  /**
   * The results are incomplete. `areFailuresSound` says that a failure that was read is the server's own; only then can failures decide the
   * verdict although results are missing. No rule covers a `null`.
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
  'behaviour-kept': judged,

  'suite-removed': lowered,
  'required-case-removed': lowered,
  'requirement-lowered': lowered,
  'quarantine-widened': lowered,
  'baseline-lowered': lowered,
  // The surface was read from the server itself, and no result of a case changes it.
  'surface-changed': lowered,
  'surface-too-large': lowered,
  'hosts-worse': lowered,
  // The differences were shown by both servers themselves, apart from the results of cases.
  'behaviour-changed': lowered,

  // The interval of the rate contains the minimum: the only result that is open statistically.
  'minimum-unsettled': { kind: 'open', rule: 'onInconclusive' },
  // Cases ran and have results; only probation keeps them from counting.
  'only-probation': { kind: 'gap', rule: 'onInconclusive', areFailuresSound: true },
  // A requirement without a result means a missing result, not a close one.
  'requirement-unjudged': { kind: 'open', rule: 'onNothingRun' },
  // The options ask for the comparison, and it has no result.
  'base-not-compared': { kind: 'open', rule: 'onNothingRun' },
  'behaviour-unread': { kind: 'open', rule: 'onNothingRun' },
  'surface-unread': { kind: 'open', rule: 'onNothingRun' },
  'coverage-unread': { kind: 'open', rule: 'onNothingRun' },

  // An iteration has no result, or was not read. The others were read, and the missing ones are counted.
  'results-unknown': soundGap,
  'iterations-missing': soundGap,
  'no-iterations': soundGap,
  // The gate itself cancelled the run, by its own clock or its own count; the iterations that had ended stand. As a requirement, a budget
  // is judged, and this rule does not apply.
  deadline: soundGap,
  'budget-exceeded': soundGap,
  // The options ask for it. In the suite with the failure, it decides the verdict.
  'first-failure': soundGap,

  // Counts contradict each other, or iterations belong to no case: none of the results is reliable.
  'results-inconsistent': doubtfulGap,
  // Calls after the loss fail because of it, and a hosted service reports them like failures of the server.
  'server-lost': doubtfulGap,
  'tunnel-lost': doubtfulGap,
  // The service ended the run without a verdict; it may have failed iterations that it never finished.
  'run-not-completed': doubtfulGap,
  // Nothing ran.
  'run-not-created': doubtfulGap,
  // The service cannot be reached, or its answers are invalid or repeat without end.
  infrastructure: doubtfulGap,
  // The server was not started: a rule about results must not skip a required protection.
  'sandbox-unavailable': { kind: 'gap', rule: null, areFailuresSound: false },
  // The run was cancelled on request, so no rule turns it into a verdict.
  cancelled: { kind: 'gap', rule: null, areFailuresSound: false },
};

/** Checks if failures that were read count although these reasons say that results are missing. */
export function areFailuresSound(gaps: ReadonlyArray<{ code: ReasonCode }>): boolean {
  return gaps.every(({ code }) => {
    const rule = reasonRules[code];
    return rule.kind !== 'gap' || rule.areFailuresSound;
  });
}

/** Checks if a reason says that a requirement is open. */
export function isOpen({ code }: { code: ReasonCode }): boolean {
  return reasonRules[code].kind === 'open';
}

/** Checks if a reason is established without any case. */
export function isProtection({ code }: { code: ReasonCode }): boolean {
  return reasonRules[code].kind === 'protected';
}

/**
 * Lists the rules that must all accept an inconclusive verdict before the job may continue; null if no rule can. A requirement that is not
 * met may be among the reasons; the reason why the verdict is inconclusive decides in any case.
 */
export function listLenientRules(reasons: ReadonlyArray<{ code: ReasonCode }>): LenientRule[] | null {
  const rules = reasons.flatMap(({ code }) => {
    const rule = reasonRules[code];
    return rule.kind === 'judged' || rule.kind === 'protected' ? [] : [rule.rule];
  });
  const given = rules.filter((rule) => rule !== null);
  return given.length === 0 || given.length < rules.length ? null : [...new Set(given)];
}
