import { z } from 'zod';
import type { ServiceLimits } from '../api-limits.ts';
import { matchOptionsOverrideSchema, type TestSchemas } from './case-body.ts';

/** Percent. No range is checked, as in the API: a client that sends 0.9 asks for 0.9 %. */
const passCriteriaSchema = z.strictObject({ minimumPassRate: z.number().exactOptional() });

const text = z.string().exactOptional();

/** Creates the schema of the body that creates a suite with its cases. */
export function createSuiteSchema(limits: Pick<ServiceLimits, 'testsPerRequest'>, tests: TestSchemas) {
  return z.strictObject({
    name: z.string().trim().min(1),
    description: z.string().exactOptional(),
    serverIds: z.array(z.string().min(1)).min(1),
    serverNames: z.array(z.string()).exactOptional(),
    model: z.string().min(1),
    provider: z.string().exactOptional(),
    passCriteria: passCriteriaSchema.exactOptional(),
    tags: z.array(z.string()).exactOptional(),
    tests: z.array(tests.ofSuite).min(1).max(limits.testsPerRequest),
  });
}

/** Creates the schema of the body that creates a run of any shape (rerun, upsert or new suite). */
export function createRunSchema(
  limits: Pick<ServiceLimits, 'testsPerRequest' | 'iterationsPerCase'>,
  tests: TestSchemas,
) {
  return z.strictObject({
    suiteId: z.string().min(1).exactOptional(),
    suiteName: z.string().trim().min(1).exactOptional(),
    suiteDescription: text,
    tests: z.array(tests.ofRun).min(1).max(limits.testsPerRequest).exactOptional(),
    serverIds: z.array(z.string().min(1)).min(1).exactOptional(),
    serverNames: z.array(z.string()).exactOptional(),
    suiteRerun: z.boolean().exactOptional(),
    /** Used for this run and never stored. */
    modelApiKeys: z.record(z.string(), z.string()).exactOptional(),
    notes: text,
    passCriteria: passCriteriaSchema.exactOptional(),
    iterationOverride: z.int().min(1).max(limits.iterationsPerCase).exactOptional(),
    environmentId: text,
    namedHostId: text,
    caseIds: z.array(z.string().min(1)).min(1).exactOptional(),
    matchOptionsOverride: matchOptionsOverrideSchema.exactOptional(),
    /** Runs without the skills of the environment. */
    skillsOverride: z.literal('exclude').exactOptional(),
    refreshSnapshot: z.boolean().exactOptional(),
    runGroupId: text,
    idempotencyKey: z.string().max(256).exactOptional(),
  });
}
