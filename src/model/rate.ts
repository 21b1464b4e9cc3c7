/** Scales fractions to integers, so that comparisons are exact. Percentages have up to four decimals. */
const scale = 1_000_000;

/** Returns the share of scored iterations that passed, 0..1; null if no iteration was scored. */
export function computePassRate(passed: number, total: number): number | null {
  return total === 0 ? null : passed / total;
}

/** Checks if `passed` of `total` reaches the minimum, a fraction 0..1. Compares integers: 9 of 10 is exactly 90 %. */
export function meetsMinimumPassRate(passed: number, total: number, minimumPassRate: number): boolean {
  return passed * scale >= Math.round(minimumPassRate * scale) * total;
}

export type ParsedPassRate = { ok: true; passRate: number } | { ok: false; message: string };

/**
 * Reads `90%`, `90` or `99.5%` as a fraction 0..1. Rejects a bare number in (0, 1]: it could be a fraction or a percentage, and a wrong
 * guess would let failures pass.
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
 * Prints a fraction as a percentage with at most one decimal, `90%` or `66.6%`. Rounds towards zero, so that a rate just below its minimum
 * never looks as if it reached it.
 */
export function formatPassRate(passRate: number | null): string {
  if (passRate === null) return 'n/a';
  return `${Math.floor(Math.round(passRate * scale) / 1000) / 10}%`;
}

/** Prints the upper end of a range. Rounds up, so that the printed range contains the computed one. */
export function formatUpperRate(upper: number): string {
  return formatPassRate(Math.min(1, Math.ceil(upper * 1000 - 1e-9) / 1000));
}

/** Prints a minimum exactly, with up to four decimals: `90%` or `66.67%`. */
export function formatMinimumPassRate(minimumPassRate: number): string {
  return `${toPercent(minimumPassRate)}%`;
}

/** Converts a fraction to a percentage, 0..100, without the noise of binary fractions: 0.07 is 7, not 7.000000000000001. */
export function toPercent(passRate: number): number {
  return Math.round(passRate * scale) / 10_000;
}

/** Describes the smallest fall that a limit detects with a power of 90 %. `fall` is a fraction; null if the limit detects none. */
export function describeSmallestFall(fall: number | null, maximumRateDrop: number): string {
  const limit = `the limit of ${formatMinimumPassRate(maximumRateDrop)}`;
  if (fall === null) return `${limit} finds no fall nine times in ten; more cases or iterations would`;
  return `${limit} finds a fall of ${Math.ceil(fall * 100)} points nine times in ten, if all cases fall alike`;
}
