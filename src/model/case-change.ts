/**
 * How a case changed since the baseline, in the order in which it matters to a reader.
 *
 * - `regressed`: all iterations passed before and at most half pass now, or more than half passed before and none passes now.
 * - `unsteady`: some iterations passed and some failed, before or now, and the change is smaller than `regressed` or `fixed`.
 * - `changed`: the definition of the case changed, so the two results are not comparable.
 * - `unscored`: one side has the case but no result of it.
 * - `new`, `removed`: only one side has the case.
 * - `fixed`: the reverse of `regressed`.
 * - `unchanged`: all iterations passed on both sides, or none did.
 */
export const caseChanges = [
  'regressed',
  'unsteady',
  'changed',
  'unscored',
  'new',
  'removed',
  'fixed',
  'unchanged',
] as const;
export type CaseChange = (typeof caseChanges)[number];

/** The confidence of the interval of a difference between two pass rates. */
export const rateConfidence = 0.95;

/**
 * Checks if a fall is statistically significant: its p-value is at most 5 %. Uses the p-value over tasks if the policy asks for it and at
 * least five cases are comparable; else the p-value for these cases.
 */
export function isFallShown({
  fallPValue,
  tasks,
}: {
  fallPValue: number;
  tasks?: { pValue?: number | null | undefined } | null | undefined;
}): boolean {
  return (tasks?.pValue ?? fallPValue) <= 1 - rateConfidence;
}
