/** The number of steps that the comparison of two surfaces may still take. A step reads a schema, a member, a value or a pair of them. */
export interface Work {
  left: number;
}

/** Takes a few seconds; the surfaces of hundreds of servers together need fewer. */
export const maxSteps = 5_000_000;

export function createWork(steps = maxSteps): Work {
  return { left: steps };
}

/** A comparison needs more steps than the limit. */
export class TooMuchWorkError extends Error {}

/** @throws {TooMuchWorkError} once no steps are left */
export function spend(work: Work, steps: number): void {
  work.left -= steps;
  if (work.left < 0) throw new TooMuchWorkError(`The comparison takes more than ${maxSteps} steps.`);
}
