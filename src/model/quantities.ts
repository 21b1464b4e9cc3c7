import { z } from 'zod';

/** Larger than any gate needs, and small enough that sums stay exact. */
const maxCount = 1e9;

export const count = z.int().min(0).max(maxCount);
export const fraction = z.number().min(0).max(1);
export const milliseconds = z.number().min(0).max(1e12);
/** An amount in the currency of the policy. */
export const money = z.number().min(0).max(1e9);

/** The number of scored iterations, and how many of them passed. */
export const countsSchema = z.object({ passed: count, total: count });
export type Counts = z.infer<typeof countsSchema>;
