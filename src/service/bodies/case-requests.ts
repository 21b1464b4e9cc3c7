import { z } from 'zod';
import type { ServiceLimits } from '../api-limits.ts';

const count = z.int().min(0).max(10).exactOptional();

/** The number of cases of each kind to generate. */
const caseMixSchema = z.strictObject({
  simple: count,
  multiTool: count,
  multiTurn: count,
  complex: count,
  negative: count,
});
export type CaseMix = z.infer<typeof caseMixSchema>;

/** The body of a request to generate cases from the tools of servers. */
export const generateSchema = z.strictObject({
  mode: z.enum(['normal', 'negative']).exactOptional(),
  /** The ids or names of the servers. */
  servers: z.array(z.string().min(1)).exactOptional(),
  environmentId: z.string().min(1).exactOptional(),
  caseModels: z
    .array(z.strictObject({ model: z.string().min(1), provider: z.string().exactOptional() }))
    .exactOptional(),
  caseMix: caseMixSchema.exactOptional(),
  varyUserStyles: z.boolean().exactOptional(),
  idempotencyKey: z.string().trim().min(1).max(256).exactOptional(),
});
export type GenerateBody = z.infer<typeof generateSchema>;

/** The body that adds many cases at once. Each case is checked separately, so that an invalid case fails alone. */
export function createCaseBatchSchema(limits: Pick<ServiceLimits, 'testsPerRequest'>) {
  return z.strictObject({
    cases: z.array(z.unknown()).min(1).max(limits.testsPerRequest),
    /** The service reads an unknown policy as `block` instead of refusing it, and reports that in its answer. */
    duplicatePolicy: z.string().exactOptional(),
    overrideReason: z.string().min(1).exactOptional(),
  });
}
