/**
 * How a case changed since the baseline, in the order in which it matters to a reader.
 *
 * - `regressed`: all of its iterations passed and now at most half do, or more than half passed and now none does.
 * - `unsteady`: some iterations passed and some did not, then or now, and not by as much as that.
 * - `changed`: it does something else than it did, so that the two results are of two cases.
 * - `unscored`: one side has it and no result of it.
 * - `new`, `removed`: only one side has it.
 * - `fixed`: the reverse of `regressed`.
 * - `unchanged`: all passed and all do, or none passed and none does.
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

/** Of the interval of a difference between two pass rates. */
export const rateConfidence = 0.95;

/**
 * Whether chance explains a fall with at most 5 %: over tasks where the policy asks for them and at least five cases can be compared so, else
 * for these cases.
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
