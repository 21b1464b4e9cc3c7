import { z } from 'zod';
import type { ServiceLimits } from '../limits.ts';

const count = z.int().min(0).max(10).exactOptional();

/** How many cases of each kind a request asks for. */
const caseMixSchema = z.strictObject({
  simple: count,
  multiTool: count,
  multiTurn: count,
  complex: count,
  negative: count,
});
export type CaseMix = z.infer<typeof caseMixSchema>;

/** What cases to generate, and from the tools of which servers. */
export const generateSchema = z.strictObject({
  mode: z.enum(['normal', 'negative']).exactOptional(),
  /** Ids or names. */
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

/** Many cases at once. Each is checked on its own, so that one that is not as it should be fails alone. */
export function createCaseBatchSchema(limits: Pick<ServiceLimits, 'testsPerRequest'>) {
  return z.strictObject({
    cases: z.array(z.unknown()).min(1).max(limits.testsPerRequest),
    /** An unknown one is not refused but read as `block`, and the answer says so. */
    duplicatePolicy: z.string().exactOptional(),
    overrideReason: z.string().min(1).exactOptional(),
  });
}
