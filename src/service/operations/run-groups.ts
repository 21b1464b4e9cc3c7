import { z } from 'zod';
import { createTestSchemas } from '../bodies/case-body.ts';
import { createRunSchema } from '../bodies/suite-body.ts';
import { contractLimits } from '../api-limits.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { projectPath } from '../paths.ts';

/** The API's limit for one group. */
const maxTargets = 10;

const text = z.string().nullish();

/** Either an environment or a host. All targets of a group use the same field. */
const targetSchema = z.strictObject({
  environmentId: z.string().min(1).exactOptional(),
  namedHostId: z.string().min(1).exactOptional(),
});
export type RunGroupTarget = z.infer<typeof targetSchema>;

const bodySchema = createRunSchema(contractLimits, createTestSchemas(contractLimits))
  .pick({
    modelApiKeys: true,
    notes: true,
    passCriteria: true,
    iterationOverride: true,
    caseIds: true,
    matchOptionsOverride: true,
    skillsOverride: true,
    idempotencyKey: true,
  })
  .extend({
    suiteId: z.string().min(1),
    /** Environments or hosts of the suite. A repeated target counts once. */
    targets: z.array(targetSchema).min(1).max(maxTargets),
  });
export type RunGroupBody = z.infer<typeof bodySchema>;

const runGroupReceiptSchema = z.object({
  runGroupId: z.string(),
  suiteId: z.string(),
  /** `started`, `partial`, or `failed` if no run has started. */
  outcome: z.string(),
  startedCount: z.number(),
  failedCount: z.number(),
  /** The targets, in the order of the request. */
  targets: z.array(
    z.object({
      target: z.object({ environmentId: text, namedHostId: text, name: text }),
      /** `started` or `failed`. */
      status: z.string(),
      runId: text,
      /** The status of the run. */
      runStatus: text,
      deduped: z.boolean().nullish(),
      error: z
        .object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).nullish() })
        .nullish(),
    }),
  ),
  /** The first run that started, as in the receipt of a single run. */
  runId: text,
  status: text,
});
export type RunGroupReceipt = z.infer<typeof runGroupReceiptSchema>;

/** Runs of a suite in several environments or on several hosts at once. */
export const runGroupOperations = nameOperations({
  createEvalRunGroup: defineOperation({
    summary: 'Starts a run of a suite in each of several environments, or on each of several hosts.',
    method: 'POST',
    path: `${projectPath}/eval-run-groups`,
    query: none,
    body: bodySchema,
    answer: runGroupReceiptSchema,
    status: 202,
    errors: [400, 401, 403, 404, 409, 429, 500],
    isSlow: true,
  }),
});
