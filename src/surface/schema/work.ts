/** How many steps the comparison of two surfaces may still take: looks at a schema, a member, a value or a pair of them. */
export interface Work {
  left: number;
}

/** A few seconds; the surfaces of hundreds of servers together take less. */
export const maxSteps = 5_000_000;

export function createWork(steps = maxSteps): Work {
  return { left: steps };
}

/** A comparison would take more steps than it may. */
export class TooMuchWorkError extends Error {}

/** @throws {TooMuchWorkError} once there are no steps left */
export function spend(work: Work, steps: number): void {
  work.left -= steps;
  if (work.left < 0) throw new TooMuchWorkError(`The comparison takes more than ${maxSteps} steps.`);
}
