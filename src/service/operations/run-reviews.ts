import { z } from 'zod';
import { defineOperation, nameOperations, none } from './operation.ts';
import { runPath } from '../paths.ts';

const receipt = z.object({ runId: z.string(), projectId: z.string(), status: z.string() });

const judgeState = z.object({
  /** `pending`, `completed` or `failed`; null if no judge was requested. */
  status: z.string().nullable(),
  errorCode: z.string().nullable(),
  summary: z.string().nullable(),
  /** In milliseconds since 1970. */
  generatedAt: z.number().nullable(),
  modelUsed: z.string().nullable(),
  /** The lowest score of a case that passes, from 0 to 1 like all scores. */
  threshold: z.number().nullable(),
});
const judgedCase = z.object({
  caseKey: z.string(),
  score: z.number().nullable(),
  passed: z.boolean(),
  reason: z.string().nullable(),
});

/** The judgments of a run. They change no result. */
export const judgesSchema = z.object({
  goalCompletion: judgeState.extend({
    cases: z.array(judgedCase.extend({ rubricHits: z.array(z.string()) })),
  }),
  groundedness: judgeState.extend({
    cases: z.array(judgedCase.extend({ unsupportedClaims: z.array(z.string()) })),
  }),
});
export type RunJudges = z.infer<typeof judgesSchema>;

const findingSchema = z.object({
  /** Stable for the same problem of the same cases. */
  id: z.string(),
  signalFingerprint: z.string(),
  title: z.string(),
  category: z.string(),
  attribution: z.string(),
  actionTarget: z.string(),
  actionability: z.string(),
  severity: z.string(),
  confidence: z.string(),
  /** Text that the service derives from its counts, without a model. */
  observed: z.string(),
  rootCause: z.string().exactOptional(),
  recommendation: z.string(),
  acceptanceCriteria: z.array(z.string()),
  affected: z.object({ count: z.number(), total: z.number(), unit: z.string() }),
  evidence: z.array(z.looseObject({})),
});

/** The findings of a model about a run. */
export const insightsSchema = z.object({
  schemaVersion: z.literal(1),
  scope: z.object({ kind: z.string(), id: z.string() }),
  /** `not_available`, `not_requested`, `pending`, `completed` or `failed`. */
  status: z.string(),
  reasonCode: z.string().nullable(),
  retryable: z.boolean(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  generatedAt: z.number().nullable(),
  updatedAt: z.number().nullable(),
  summary: z.string().nullable(),
  coverage: z.object({
    unit: z.string(),
    analyzed: z.number(),
    total: z.number(),
    truncated: z.boolean(),
    lowConfidence: z.boolean(),
  }),
  findings: z.array(findingSchema),
  truncation: z.object({
    truncated: z.boolean(),
    omittedFindings: z.number(),
    omittedEvidence: z.number(),
    contractTruncated: z.boolean(),
  }),
});
export type RunInsights = z.infer<typeof insightsSchema>;

/** Reviews by models of a run that has ended. */
export const runReviewOperations = nameOperations({
  judgeEvalRun: defineOperation({
    summary: 'Has a model judge the answers of a run; the run then holds what it said. Spends.',
    method: 'POST',
    path: `${runPath}/judge`,
    query: none,
    body: z.strictObject({
      /** True to judge a run that is already judged again. */
      force: z.boolean().exactOptional(),
      /** True to judge this run even if its suite has judges disabled. */
      enable: z.boolean().exactOptional(),
      /** The model, as `provider/name`. */
      model: z.string().min(1).exactOptional(),
      threshold: z.number().min(0).max(1).exactOptional(),
    }),
    answer: receipt,
    status: 202,
    errors: [400, 401, 403, 404, 422, 429, 500],
    needs: 'a model',
  }),
  requestEvalRunInsights: defineOperation({
    summary: 'Has a model find out why iterations of a run failed; the run then holds what it found. Spends.',
    method: 'POST',
    path: `${runPath}/insights`,
    query: none,
    body: z.strictObject({ force: z.boolean().exactOptional() }),
    answer: receipt,
    status: 202,
    errors: [400, 401, 403, 404, 422, 429, 500],
    needs: 'a model',
  }),
});
