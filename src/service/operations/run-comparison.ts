import { z } from 'zod';
import { stepPageSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { runPath, stepsPath } from '../paths.ts';

/** A number of both runs. A side without the number is null; `percentDelta` is null if the base is 0. */
const numericDiff = z.object({
  base: z.number().nullable(),
  compare: z.number().nullable(),
  delta: z.number().nullable(),
  percentDelta: z.number().nullable(),
});

const runSide = z.object({
  id: z.string(),
  runNumber: z.number(),
  result: z.string(),
  createdAt: z.number(),
  completedAt: z.number().nullable(),
  /** `passRate` is a fraction, 0..1. */
  summary: z.object({ total: z.number(), passed: z.number(), failed: z.number(), passRate: z.number() }).nullable(),
});

const scoreContractSide = z.object({
  evaluationConfigHash: z.string().nullable(),
  /** `valid` or `invalid`; null if there is no evidence. */
  scoreIntegrity: z.string().nullable(),
  scoredIterations: z.number(),
  quarantinedIterations: z.number(),
});

const scorer = {
  scorerId: z.string(),
  gating: z.boolean(),
  deterministic: z.boolean(),
  /** True if the two sides have different definitions of the scorer, so that a difference is not a regression. */
  definitionChanged: z.boolean(),
};

const scoreSide = z.object({ status: z.string(), value: z.number().nullable(), passed: z.boolean().nullable() });

const caseSide = z.object({
  /** `passed`, `failed` or `absent`. */
  outcome: z.string(),
  iterationIds: z.array(z.string()),
  representativeIterationId: z.string().nullable(),
  error: z.string().nullable(),
});

/** A comparison of two runs of a suite. */
export const runComparisonSchema = z.object({
  suite: z.object({ id: z.string(), name: z.string() }),
  /** `policy` is `previous_completed` or `run`. */
  baseline: z.object({ policy: z.string(), baseRunId: z.string() }),
  baseRun: runSide,
  compareRun: runSide,
  /** `passRatePercent` is from 0 to 100. */
  passSummary: z.object({ passRatePercent: numericDiff, total: numericDiff, passed: numericDiff, failed: numericDiff }),
  metrics: z.object({ wallDurationMs: numericDiff, totalTokens: numericDiff, estimatedCostUsd: numericDiff }),
  scoreContract: z.object({
    base: scoreContractSide,
    compare: scoreContractSide,
    evaluationConfigChanged: z.boolean(),
    scorers: z.array(
      z.object({
        ...scorer,
        /** `passRate` and `meanValue` are from 0 to 1. */
        passRate: numericDiff,
        meanValue: numericDiff,
        errorCount: z.object({ base: z.number(), compare: z.number() }),
      }),
    ),
  }),
  cases: z.array(
    z.object({
      caseKey: z.string(),
      title: z.string(),
      /** `unchanged_passed`, `unchanged_failed`, `regressed`, `fixed`, `new_case`, `removed_case` or `changed`. */
      status: z.string(),
      configChanged: z.boolean(),
      evaluationConfigChanged: z.boolean(),
      scoreDeltas: z.array(
        z.object({ ...scorer, base: scoreSide.nullable(), compare: scoreSide.nullable(), value: numericDiff }),
      ),
      base: caseSide,
      compare: caseSide,
    }),
  ),
});
export type RunComparison = z.infer<typeof runComparisonSchema>;

/** Reads of a run and its iterations, in addition to their results. */
export const runComparisonOperations = nameOperations({
  compareEvalRun: defineOperation({
    summary: 'Compares a run with an earlier one of its suite, case by case.',
    method: 'GET',
    path: `${runPath}/compare`,
    query: z.object({
      /** A completed run of the same suite. Default: the latest one completed before this run. */
      baseRunId: z.string().exactOptional(),
      /** The most characters of each error. Default: 2000. */
      previewChars: z.number().exactOptional(),
    }),
    body: none,
    answer: runComparisonSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500],
  }),
  getEvalRunSteps: defineOperation({
    summary: 'Lists the steps of an iteration with their results; those that did not run yet are `pending`.',
    method: 'GET',
    path: stepsPath,
    hasShortPath: true,
    query: none,
    body: none,
    answer: stepPageSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500],
  }),
});
