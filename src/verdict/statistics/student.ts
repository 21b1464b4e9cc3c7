/**
 * Computes how many standard errors a two-sided interval reaches where the variance itself was estimated, from so many
 * degrees of freedom (a whole number from 1): the quantile of Student's t. The distribution function is the finite
 * series for whole degrees of freedom (M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964,
 * 26.7.3 and 26.7.4), inverted by bisection to about 12 digits.
 */
export function computeStudentCriticalValue(confidence: number, degreesOfFreedom: number): number {
  // In the angle, not in t: with one degree of freedom t reaches far, the angle stays below a quarter turn.
  let low = 0;
  let high = Math.PI / 2;
  for (let halving = 0; halving < 50; halving += 1) {
    const angle = (low + high) / 2;
    if (computeTwoSidedProbability(angle, degreesOfFreedom) < confidence) low = angle;
    else high = angle;
  }
  return Math.sqrt(degreesOfFreedom) * Math.tan((low + high) / 2);
}

/** The probability that |t| stays below sqrt(degrees of freedom) times the tangent of the angle. */
function computeTwoSidedProbability(angle: number, degreesOfFreedom: number): number {
  const squaredCosine = Math.cos(angle) ** 2;
  const isOdd = degreesOfFreedom % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = 0;
  for (let power = isOdd ? 1 : 0; power <= degreesOfFreedom - 2; power += 2) {
    sum += term;
    term *= ((power + 1) / (power + 2)) * squaredCosine;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}
