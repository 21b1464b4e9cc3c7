import { z } from 'zod';
import type { ServiceLimits } from '../limits.ts';
import type { createTestSchemas } from './case.ts';
import { matchOptionsOverrideSchema } from './match-options.ts';
import { passCriteriaSchema } from './suite.ts';

const text = z.string().exactOptional();

/** The body that creates a run, before its shape (rerun, upsert, new suite) is known. */
export function createRunSchema(limits: ServiceLimits, tests: ReturnType<typeof createTestSchemas>) {
  return z.strictObject({
    /** Read on the short path only; the path's project wins. */
    projectId: text,
    suiteId: z.string().min(1).exactOptional(),
    suiteName: z.string().trim().min(1).exactOptional(),
    suiteDescription: text,
    tests: z.array(tests.ofRun).min(1).max(limits.testsPerRequest).exactOptional(),
    serverIds: z.array(z.string().min(1)).min(1).exactOptional(),
    serverNames: z.array(z.string()).exactOptional(),
    suiteRerun: z.boolean().exactOptional(),
    /** Accepted, never stored: no model is called. */
    modelApiKeys: z.record(z.string(), z.string()).exactOptional(),
    notes: text,
    passCriteria: passCriteriaSchema.exactOptional(),
    iterationOverride: z.int().min(1).max(limits.iterationsPerCase).exactOptional(),
    environmentId: text,
    namedHostId: text,
    caseIds: z.array(z.string().min(1)).min(1).exactOptional(),
    matchOptionsOverride: matchOptionsOverrideSchema.exactOptional(),
    /** There are no skills here, so leaving them out is what happens anyway. */
    skillsOverride: z.literal('exclude').exactOptional(),
    refreshSnapshot: z.boolean().exactOptional(),
    runGroupId: text,
    idempotencyKey: z.string().max(256).exactOptional(),
  });
}

export type RunCreateBody = z.infer<ReturnType<typeof createRunSchema>>;
