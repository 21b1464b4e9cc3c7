/** Percentages are kept to four decimals; scaled by this they are integers, and comparisons are exact. */
const scale = 1_000_000;

/** The share of scored iterations that passed, 0..1; null where none was scored, which is no rate at all. */
export function computePassRate(passed: number, total: number): number | null {
  return total === 0 ? null : passed / total;
}

/** Whether `passed` of `total` reaches the minimum, a fraction 0..1, decided in integers: 9 of 10 is exactly 90 %. */
export function meetsMinimumPassRate(passed: number, total: number, minimumPassRate: number): boolean {
  return passed * scale >= Math.round(minimumPassRate * scale) * total;
}

export type ParsedPassRate = { ok: true; passRate: number } | { ok: false; message: string };

/**
 * Reads `90%`, `90` or `99.5%` into a fraction 0..1. A bare number in (0, 1] is refused: it could be a fraction or a
 * percentage, and a gate that guesses wrong is open.
 */
export function parsePassRate(text: string | number): ParsedPassRate {
  const match = /^\s*(\d+(?:\.\d{1,4})?)\s*(%)?\s*$/.exec(String(text));
  if (match === null) {
    return {
      ok: false,
      message: `${JSON.stringify(text)} is not a pass rate; write a percentage from 0% to 100%, such as 90%`,
    };
  }
  const percent = Number(match[1]);
  if (percent > 100) return { ok: false, message: `${percent}% is more than 100%` };
  if (match[2] === undefined && percent > 0 && percent <= 1) {
    return {
      ok: false,
      message: `${text} could mean ${percent}% or ${formatPassRate(percent)}; write the one you mean with its % sign`,
    };
  }
  return { ok: true, passRate: Math.round((percent / 100) * scale) / scale };
}

/**
 * Prints a fraction as a percentage with at most one decimal, `90%` or `66.6%`. Rounds towards zero, so that a rate
 * just short of its minimum never reads as having reached it.
 */
export function formatPassRate(passRate: number | null): string {
  if (passRate === null) return 'n/a';
  return `${Math.floor(Math.round(passRate * scale) / 1000) / 10}%`;
}

/** The same of the upper end of a range, rounded up, so that the range as printed holds the range as computed. */
export function formatUpperRate(upper: number): string {
  return formatPassRate(Math.min(1, Math.ceil(upper * 1000 - 1e-9) / 1000));
}

/** Prints a minimum exactly, with up to the four decimals it may have: `90%` or `66.67%`. */
export function formatMinimumPassRate(minimumPassRate: number): string {
  return `${toPercent(minimumPassRate)}%`;
}

/** The wire's scale, 0..100, without the noise of binary fractions: 0.07 is 7, not 7.000000000000001. */
export function toPercent(passRate: number): number {
  return Math.round(passRate * scale) / 10_000;
}

/** Says what a limit on the fall of a rate finds with a power of 90 %; `fall` is a fraction, null where it finds none. */
export function describeSmallestFall(fall: number | null, maximumRateDrop: number): string {
  const limit = `the limit of ${formatMinimumPassRate(maximumRateDrop)}`;
  if (fall === null) return `${limit} finds no fall nine times in ten; more cases or iterations would`;
  return `${limit} finds a fall of ${Math.ceil(fall * 100)} points nine times in ten, if all cases fall alike`;
}
