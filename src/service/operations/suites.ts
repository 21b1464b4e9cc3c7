import { z } from 'zod';
import { createTestSchemas } from '../bodies/case-body.ts';
import { createSuiteSchema } from '../bodies/suite-body.ts';
import { contractLimits } from '../api-limits.ts';
import { deletedSchema, suiteCreatedSchema, suiteDetailSchema, suitePageSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { suitePath, suitesPath } from '../paths.ts';

const text = z.string().nullish();
const open = z.record(z.string(), z.unknown()).nullish();

/** A suite with its settings, as every operation on a single suite answers. */
export const suiteAnswer = suiteDetailSchema.extend({
  environment: z
    .looseObject({ servers: z.array(z.string()).nullish(), computerEnvironment: z.unknown().optional() })
    .nullish(),
  executionConfig: z.looseObject({ model: text, systemPrompt: text, temperature: z.number().nullish() }).nullish(),
  hosts: z.array(z.looseObject({})).nullish(),
  environmentIds: z.array(z.string()).nullish(),
  settings: z
    .looseObject({
      /** In percent, 0..100. */
      minimumAccuracy: z.number().nullish(),
      minimumIterations: z.number().nullish(),
      matchOptions: open,
      checks: z.array(z.unknown()).nullish(),
      judge: open,
    })
    .nullish(),
  schedule: z
    .looseObject({ enabled: z.boolean(), intervalMinutes: z.number().nullish(), environmentId: text })
    .nullish(),
});

/** Suites, apart from their cases. */
export const suiteOperations = nameOperations({
  listEvalSuites: defineOperation({
    summary: 'Lists the suites of a project with their latest runs, all at once.',
    method: 'GET',
    path: suitesPath,
    query: none,
    body: none,
    answer: suitePageSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  createEvalSuite: defineOperation({
    summary: 'Creates a suite with its cases, and runs nothing.',
    method: 'POST',
    path: suitesPath,
    query: none,
    body: createSuiteSchema(contractLimits, createTestSchemas(contractLimits)),
    answer: suiteCreatedSchema,
    status: 201,
    errors: [400, 401, 403, 404, 429, 500, 502],
    isSlow: true,
  }),
  getEvalSuite: defineOperation({
    summary: 'Gets a suite with its settings, without its cases.',
    method: 'GET',
    path: suitePath,
    query: none,
    body: none,
    answer: suiteAnswer,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  deleteEvalSuite: defineOperation({
    summary: 'Deletes a suite and its cases; its past runs stay.',
    method: 'DELETE',
    path: suitePath,
    query: none,
    body: none,
    answer: deletedSchema,
    status: 200,
    errors: [401, 403, 404, 409, 429, 500, 502],
  }),
});
