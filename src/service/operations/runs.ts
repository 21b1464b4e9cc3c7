import { z } from 'zod';
import { createTestSchemas } from '../bodies/case-body.ts';
import { createRunSchema } from '../bodies/suite-body.ts';
import { contractLimits } from '../api-limits.ts';
import { iterationSchema, runCreatedSchema, runSchema, traceSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { iterationsPath, runCancelPath, runPath, runsPath, suiteRunsPath, tracePath } from '../paths.ts';

const text = z.string().nullish();
const open = z.record(z.string(), z.unknown()).nullish();

/** A run in an answer. Only an answer with a single run has `insights` and `judges`. */
export const runAnswer = runSchema.extend({
  environment: open,
  executionEngine: text,
  scoreIntegrity: text,
  insights: open,
  judges: open,
});

const iterationAnswer = iterationSchema.extend({
  scores: z.array(z.unknown()).nullish(),
  evaluationConfig: open,
  scoreIntegrity: text,
});

/** Runs and their iterations. */
export const runOperations = nameOperations({
  createEvalRun: defineOperation({
    summary: 'Starts a run: of a suite as it is, of a suite with these tests written into it, or of a new suite.',
    method: 'POST',
    path: runsPath,
    hasShortPath: true,
    query: none,
    body: createRunSchema(contractLimits, createTestSchemas(contractLimits)),
    answer: runCreatedSchema,
    status: 202,
    errors: [400, 401, 403, 404, 409, 422, 429, 500, 502, 504],
    isSlow: true,
  }),
  getEvalRun: defineOperation({
    summary: 'Gets a run as it stands now.',
    method: 'GET',
    path: runPath,
    hasShortPath: true,
    query: none,
    body: none,
    answer: runAnswer,
    status: 200,
    errors: [401, 403, 404, 429, 500],
  }),
  cancelEvalRun: defineOperation({
    summary: 'Cancels a run and its iterations that have not ended.',
    method: 'POST',
    path: runCancelPath,
    hasShortPath: true,
    query: none,
    body: none,
    answer: runAnswer,
    status: 200,
    errors: [401, 403, 404, 409, 429, 500],
    isRepeatable: true,
  }),
  listEvalSuiteRuns: defineOperation({
    summary: 'Lists the latest runs of a suite, newest first.',
    method: 'GET',
    path: suiteRunsPath,
    query: z.object({ limit: z.int().min(1).max(100).exactOptional() }),
    body: none,
    answer: z.object({ items: z.array(runAnswer), nextCursor: text }),
    status: 200,
    errors: [401, 403, 404, 429, 500],
  }),
  listEvalRunIterations: defineOperation({
    summary: 'Lists the iterations of a run, page by page.',
    method: 'GET',
    path: iterationsPath,
    hasShortPath: true,
    query: z.object({ limit: z.int().min(1).max(200).exactOptional(), cursor: z.string().exactOptional() }),
    body: none,
    answer: z.object({ items: z.array(iterationAnswer), nextCursor: text }),
    status: 200,
    errors: [401, 403, 404, 429, 500],
    cursor: 'query',
  }),
  getEvalIterationTrace: defineOperation({
    summary: 'Gets the trace of an iteration: an open document, any part of which may be missing.',
    method: 'GET',
    path: tracePath,
    hasShortPath: true,
    query: none,
    body: none,
    answer: traceSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500],
  }),
});
