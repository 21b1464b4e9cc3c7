import type { VerdictOutcome } from '../model/verdict.ts';

/** How a gate ends that was not stopped. */
export const exitCodes = { passed: 0, failed: 1, inconclusive: 3 } as const satisfies Record<VerdictOutcome, number>;
