import { z } from 'zod';
import { createCaseBatchSchema, generateSchema } from '../bodies/case-requests.ts';
import { createCaseSchemas } from '../bodies/case-body.ts';
import { contractLimits } from '../api-limits.ts';
import { caseBatchResultSchema, casePageSchema, caseSchema, deletedSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { caseBatchPath, casePath, casesPath } from '../paths.ts';

const bodies = createCaseSchemas(contractLimits);

/** The cases of a suite. */
export const caseOperations = nameOperations({
  listEvalCases: defineOperation({
    summary: 'Lists the cases of a suite, all at once.',
    method: 'GET',
    path: casesPath,
    query: none,
    body: none,
    answer: casePageSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  createEvalCase: defineOperation({
    summary: 'Adds a case to a suite.',
    method: 'POST',
    path: casesPath,
    query: none,
    body: bodies.create,
    answer: caseSchema,
    status: 201,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
  }),
  createEvalCases: defineOperation({
    summary: 'Adds up to 100 cases to a suite, and lists those that it did not add with the reason.',
    method: 'POST',
    path: caseBatchPath,
    query: none,
    body: createCaseBatchSchema(contractLimits),
    answer: caseBatchResultSchema.extend({
      duplicatePolicy: z
        .object({ requestedPolicy: z.string().nullish(), effectivePolicy: z.string(), coerced: z.boolean() })
        .nullish(),
      warnings: z.array(z.unknown()).nullish(),
    }),
    status: 201,
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
  generateEvalCases: defineOperation({
    summary: "Lets a model write cases from the tools of a suite's servers, and adds them to the suite.",
    method: 'POST',
    path: `${casesPath}/generate`,
    query: none,
    body: generateSchema,
    answer: z.object({
      generationModel: z.string(),
      created: z.array(caseSchema),
      counts: z.object({ normal: z.number().nullish(), negative: z.number().nullish() }),
      skipped: z.array(z.looseObject({})).nullish(),
    }),
    status: 200,
    errors: [400, 401, 403, 404, 409, 422, 429, 500, 502, 504],
    isSlow: true,
    needs: 'a model',
  }),
  getEvalCase: defineOperation({
    summary: 'Gets a case of a suite.',
    method: 'GET',
    path: casePath,
    query: none,
    body: none,
    answer: caseSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  updateEvalCase: defineOperation({
    summary: 'Changes the given fields of a case; `null` clears its match options or checks.',
    method: 'PATCH',
    path: casePath,
    query: none,
    body: bodies.patch,
    answer: caseSchema,
    status: 200,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
    isRepeatable: true,
  }),
  deleteEvalCase: defineOperation({
    summary: 'Deletes a case; past runs of it stay.',
    method: 'DELETE',
    path: casePath,
    query: none,
    body: none,
    answer: deletedSchema,
    status: 200,
    errors: [401, 403, 404, 409, 429, 500, 502],
  }),
});
