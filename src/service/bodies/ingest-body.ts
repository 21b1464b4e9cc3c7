import { z } from 'zod';
import { declaredIdPattern } from './case-body.ts';

/**
 * The bodies of ingestion. Unlike the bodies of other routes they are open: unknown fields are ignored, and null means absent, because many
 * reporters send it.
 */
const text = z.string().nullish();
const openObject = z.record(z.string(), z.unknown());
const toolCalls = z.array(openObject).nullish();
const count = z.number().min(0).nullish();

/** `caseId` and `externalCaseId` are two names of the same field, the declared id of the case. */
const resultSchema = z
  .looseObject({
    caseTitle: z.string().min(1),
    passed: z.boolean(),
    query: text,
    durationMs: count,
    provider: text,
    model: text,
    expectedToolCalls: toolCalls,
    actualToolCalls: toolCalls,
    tokens: z.looseObject({ input: count, output: count, total: count }).nullish(),
    error: text,
    trace: z.union([z.string(), z.array(z.unknown()), openObject]).nullish(),
    externalIterationId: z.string().min(1).nullish(),
    externalCaseId: text,
    caseId: z.string().regex(declaredIdPattern).nullish(),
    metadata: openObject.nullish(),
    widgetSnapshots: z.array(openObject).nullish(),
  })
  .refine(({ caseId, externalCaseId }) => (caseId ?? externalCaseId) === (externalCaseId ?? caseId), {
    path: ['caseId'],
    message: 'Expected the same as externalCaseId',
  });
export type IngestResult = z.infer<typeof resultSchema>;

const runSchema = z.looseObject({
  suiteName: z.string().trim().min(1),
  suiteDescription: text,
  serverNames: z.array(z.string()).nullish(),
  notes: text,
  /** Percent. No range is checked, as in other bodies. */
  passCriteria: z.looseObject({ minimumPassRate: z.number().nullish() }).nullish(),
  externalRunId: z.string().min(1),
  framework: text,
  ci: openObject.nullish(),
  expectedIterations: z.int().min(0).nullish(),
  tags: z.array(z.string()).nullish(),
  evaluationConfigHash: text,
  hostConfig: openObject.nullish(),
  hostConfigHash: text,
});
export type IngestRun = z.infer<typeof runSchema>;

const hasWholeHostConfig = ({ hostConfig, hostConfigHash }: IngestRun) =>
  (hostConfig == null) === (hostConfigHash == null);
const hostConfigRule = { path: ['hostConfigHash'], message: 'Expected with hostConfig, and not without' };

export const ingestStartSchema = runSchema.refine(hasWholeHostConfig, hostConfigRule);
export const ingestReportSchema = runSchema
  .extend({ results: z.array(resultSchema).min(1) })
  .refine(hasWholeHostConfig, hostConfigRule);
export const ingestIterationsSchema = z.looseObject({ runId: z.string().min(1), results: z.array(resultSchema) });
export const ingestFinalizeSchema = z.looseObject({ runId: z.string().min(1), externalRunId: z.string().min(1) });
