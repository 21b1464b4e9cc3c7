/** Coefficients of PPND16, highest power last: numerators and denominators for the middle, the tail and the far tail. */
const middle = {
  numerator: [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987, 67265.7709270087,
    33430.57558358813, 2509.0809287301227,
  ],
  denominator: [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852546,
  ],
};
const tail = {
  numerator: [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  denominator: [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
};
const farTail = {
  numerator: [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
  ],
  denominator: [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 1.8463183175100548e-5,
    1.421511758316446e-7, 2.0442631033899397e-15,
  ],
};

/**
 * Computes the quantile of the standard normal distribution, for a probability strictly between 0 and 1, to about 16
 * digits. Source: M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied
 * Statistics 37 (1988) 477-484, routine PPND16.
 */
export function computeNormalQuantile(probability: number): number {
  const offset = probability - 0.5;
  if (Math.abs(offset) <= 0.425) return offset * divide(middle, 0.180625 - offset * offset);
  const distance = Math.sqrt(-Math.log(Math.min(probability, 1 - probability)));
  const size = distance <= 5 ? divide(tail, distance - 1.6) : divide(farTail, distance - 5);
  return Math.sign(offset) * size;
}

/** Computes how many standard errors a two-sided interval of this confidence (a fraction 0..1) reaches to either side. */
export function computeCriticalValue(confidence: number): number {
  return computeNormalQuantile(0.5 + confidence / 2);
}

function divide({ numerator, denominator }: typeof middle, x: number): number {
  return evaluate(numerator, x) / evaluate(denominator, x);
}

function evaluate(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((value, coefficient) => value * x + coefficient, 0);
}
