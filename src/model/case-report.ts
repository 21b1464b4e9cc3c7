import { z } from 'zod';
import { sourceFrameSchema } from './source-frame.ts';
import { judgeSpendingSchema } from './cost.ts';
import { differenceSchema } from './difference.ts';
import { dispositions } from './disposition.ts';
import { hostIdentitySchema } from './host-identity.ts';
import { probationSchema } from './policy.ts';
import { quarantineEntrySchema } from './rules/quarantine.ts';
import { flakyEffects } from './rules/flaky-cases.ts';
import { count, countsSchema, fraction, milliseconds, money } from './quantities.ts';
import { toolCallSchema } from './run.ts';
import { modelUsageSchema } from './usage.ts';
import { outcomeSchema } from './verdict.ts';

/**
 * Limits the failures kept per case. These are enough to see what broke: even a case that fails a thousand times has few distinct reasons.
 */
export const maxFailuresPerCase = 5;

/** Limits the failures kept per suite, so that the report stays small when everything fails. */
export const maxFailuresPerSuite = 1000;

const failureSchema = z.object({
  iterationId: z.string(),
  iterationNumber: z.number().nullable(),
  result: z.string(),
  reasons: z.array(z.string()).describe('Most telling first.'),
  step: z
    .object({ id: z.string(), index: z.number().describe('Counted from 0.'), kind: z.string() })
    .nullable()
    .describe('The step that failed, where one did.'),
  durationMs: milliseconds.nullable(),
  expectedToolCalls: z.array(toolCallSchema),
  actualToolCalls: z.array(toolCallSchema),
  differences: z
    .array(differenceSchema)
    .exactOptional()
    .describe('What failed assertions compared; absent where nothing is known.'),
  source: sourceFrameSchema
    .exactOptional()
    .describe('The line of the server that its stack trace names, with the lines around it; absent where none does.'),
});

/** The details kept of an iteration that did not pass. There is at least one reason. */
export type IterationFailure = z.infer<typeof failureSchema>;

const classSchema = z.enum(['passed', 'flaky', 'failed']);

/** The outcome of a case over all rounds. `flaky`: it failed at first, and passed in full in a later round. */
export type CaseClass = z.infer<typeof classSchema>;

export const repeatRatesSchema = z.object({
  k: z.int().min(1),
  passAtK: fraction.describe('pass@k: how likely it is that at least one of k iterations passes.'),
  passHatK: fraction.describe('pass^k: how likely it is that all of k iterations pass.'),
});
export type RepeatRates = z.infer<typeof repeatRatesSchema>;

export const caseReportSchema = z.object({
  suiteId: z.string(),
  id: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  required: z.boolean().describe('True if the case must pass whatever the pass rate.'),
  outcome: outcomeSchema,
  disposition: z.enum(dispositions).describe('The way in which the case counts for the verdict.'),
  passed: count,
  total: count.describe('Scored iterations: passed + failed.'),
  planned: count.describe('Iterations asked for; more than `total` where some have no result.'),
  location: z.object({ file: z.string(), line: z.number() }).nullable(),
  definitionHash: z
    .string()
    .nullable()
    .describe(
      'Of what the case does, whatever it is called; null where unknown. Under different hashes nothing can be compared.',
    ),
  durationMs: milliseconds.nullable().describe('Median over the scored iterations.'),
  failed: count,
  failures: z.array(failureSchema).describe('Some of the iterations that did not pass; `failed` counts them all.'),
  quarantine: quarantineEntrySchema
    .omit({ case: true })
    .nullable()
    .describe('Why the case does not count for the time being; null where it does.'),
  probation: probationSchema
    .omit({ case: true })
    .nullable()
    .describe('The progress of its probation; null if it counts.'),
  classification: classSchema
    .nullable()
    .describe('Over all rounds: `flaky` failed at first and passed in full later; null where nothing was established.'),
  retries: z
    .array(countsSchema)
    .describe('Its results in the rounds after the first; the counts above are those of the first.'),
  flaky: z
    .object({ effect: flakyEffects, source: z.string() })
    .nullable()
    .describe(
      'The way in which a flaky case counts: as at first, as in its last round, or not at all; null for any other.',
    ),
  repeats: z.array(repeatRatesSchema).describe('From the iterations of the first round, by k.'),
  model: z.string().nullable().describe('`provider/name`; null where no model takes part, or the service chose it.'),
  host: hostIdentitySchema
    .exactOptional()
    .describe('The host whose treatment of the server the model saw; missing for the loop of the gate itself.'),
  usage: modelUsageSchema.nullable().describe('The usage of its model calls in all rounds; null without a model.'),
  cost: money.nullable().describe('The cost of its model calls, by the prices of the policy; null if unknown.'),
  judges: z.array(judgeSpendingSchema).default([]).describe('The usage and cost of its judges, counted apart.'),
  replayed: countsSchema.describe('Scored iterations in which at least one answer came from a recording.'),
});
/** The results of a case, how they count, and its failures. Durations are in milliseconds and rates from 0 to 1. */
export type CaseReport = z.infer<typeof caseReportSchema>;
