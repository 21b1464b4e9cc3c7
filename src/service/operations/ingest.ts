import { z } from 'zod';
import {
  ingestFinalizeSchema,
  ingestIterationsSchema,
  ingestReportSchema,
  ingestStartSchema,
} from '../bodies/ingest-body.ts';
import { ingestedIterationsSchema, ingestedRunSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { ingestFinalizePath, ingestIterationsPath, ingestReportPath, ingestStartPath } from '../paths.ts';

const ok = { ok: z.literal(true).nullish() };
const runAnswer = ingestedRunSchema.extend(ok);

/** Uploads of runs that were executed elsewhere. The ids in every body make each request safe to repeat. */
export const ingestOperations = nameOperations({
  reportEvalRun: defineOperation({
    summary: 'Records a run with all its results, and answers with the verdict on it.',
    method: 'POST',
    path: ingestReportPath,
    query: none,
    body: ingestReportSchema,
    answer: runAnswer,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502, 504],
    hasDefaultProject: true,
    isRepeatable: true,
  }),
  startEvalIngestRun: defineOperation({
    summary: 'Opens a run whose results follow.',
    method: 'POST',
    path: ingestStartPath,
    query: none,
    body: ingestStartSchema,
    answer: runAnswer,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502, 504],
    hasDefaultProject: true,
    isRepeatable: true,
  }),
  ingestEvalRunIterations: defineOperation({
    summary: 'Adds results to an open run; those that it has already are skipped.',
    method: 'POST',
    path: ingestIterationsPath,
    query: none,
    body: ingestIterationsSchema,
    answer: ingestedIterationsSchema.extend(ok),
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502, 504],
    hasDefaultProject: true,
    isRepeatable: true,
  }),
  finalizeEvalIngestRun: defineOperation({
    summary: 'Ends an open run, and answers with the verdict on it.',
    method: 'POST',
    path: ingestFinalizePath,
    query: none,
    body: ingestFinalizeSchema,
    answer: runAnswer,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502, 504],
    hasDefaultProject: true,
    isRepeatable: true,
  }),
});
