import { z } from 'zod';
import { matchOptionsSchema } from '../../cases/case.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { suiteAnswer } from './suites.ts';
import { suitePath } from '../paths.ts';

const id = z.string().min(1);

const judgeSettingsSchema = z.strictObject({
  enabled: z.boolean().exactOptional(),
  model: z.string().min(1).nullable().exactOptional(),
  /** True if each run is judged as soon as it has ended. */
  autoRun: z.boolean().exactOptional(),
  /** A fraction, 0..1. */
  threshold: z.number().min(0).max(1).exactOptional(),
});

/** Settings of suites: environments, execution, schedule and judges. */
export const suiteSettingsOperations = nameOperations({
  updateEvalSuite: defineOperation({
    summary: 'Changes the given fields of a suite; null removes its environments.',
    method: 'PATCH',
    path: suitePath,
    query: none,
    body: z.strictObject({
      name: z.string().trim().min(1).exactOptional(),
      description: z.string().exactOptional(),
      environment: z
        .strictObject({
          /** The names or ids of the servers. */
          servers: z.array(id).exactOptional(),
          computerEnvironment: id.nullable().exactOptional(),
        })
        .exactOptional(),
      environmentIds: z
        .array(id)
        .min(1, 'Expected at least one environment; null removes all of them')
        .nullable()
        .exactOptional(),
      executionConfig: z
        .strictObject({
          model: z.string().min(1).exactOptional(),
          systemPrompt: z.string().exactOptional(),
          temperature: z.number().min(0).max(2).exactOptional(),
        })
        .exactOptional(),
      hosts: z
        .array(
          z.strictObject({
            /** The id or name of a host. */
            host: id,
            /** The names or ids of the servers, instead of those attached to the host. */
            servers: z.array(id).exactOptional(),
          }),
        )
        .exactOptional(),
      settings: z
        .strictObject({
          minimumAccuracy: z.number().min(0).max(100).exactOptional(),
          minimumIterations: z.int().min(1).max(10).nullable().exactOptional(),
          matchOptions: matchOptionsSchema.nullable().exactOptional(),
          checks: z.array(z.record(z.string(), z.unknown())).nullable().exactOptional(),
          judge: judgeSettingsSchema.exactOptional(),
        })
        .exactOptional(),
    }),
    answer: suiteAnswer,
    status: 200,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
    isRepeatable: true,
  }),
  updateEvalSuiteSchedule: defineOperation({
    summary: 'Sets how often a suite runs by itself, or stops that.',
    method: 'PATCH',
    path: `${suitePath}/schedule`,
    query: none,
    body: z.strictObject({
      enabled: z.boolean(),
      /** From 5 minutes to a week. */
      intervalMinutes: z.int().min(5).max(10_080).exactOptional(),
      environmentId: id.exactOptional(),
    }),
    answer: suiteAnswer,
    status: 200,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
    isRepeatable: true,
  }),
  attachEvalSuiteEnvironment: defineOperation({
    summary: 'Adds an environment to those that a suite runs in.',
    method: 'POST',
    path: `${suitePath}/environments`,
    query: none,
    body: z.strictObject({ environmentId: id }),
    answer: z.object({ suiteId: z.string(), attached: z.boolean(), environmentIds: z.array(z.string()) }),
    status: 200,
    errors: [400, 401, 403, 404, 500, 502],
    isRepeatable: true,
  }),
});
