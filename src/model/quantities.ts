import { z } from 'zod';

/** Far beyond any gate, and far from where sums lose precision. */
const maxCount = 1e9;

export const count = z.int().min(0).max(maxCount);
export const fraction = z.number().min(0).max(1);
export const milliseconds = z.number().min(0).max(1e12);
/** In the currency of the policy. */
export const money = z.number().min(0).max(1e9);

/** Scored iterations, and those of them that passed. */
export const countsSchema = z.object({ passed: count, total: count });
export type Counts = z.infer<typeof countsSchema>;
