import { z } from 'zod';
import { count, fraction, money } from './quantities.ts';

/**
 * The population that a confidence is about: the cases of the suite when they are repeated, or the tasks that the cases are a sample of.
 */
export const confidencePopulations = z.enum(['cases', 'tasks']);
export type ConfidencePopulation = z.infer<typeof confidencePopulations>;

/** The scope of the error rate of failing: each minimum by itself, or all minimums of the gate together. */
export const confidenceFamilies = z.enum(['minimum', 'gate']);

/** The number of runs of a case: at least `min`, then more until its requirements are decided, at most `max`. */
export interface RunRange {
  min: number;
  max: number;
}

const roundPointSchema = z.object({
  round: z.int().min(1),
  passed: count.describe('The iterations of all rounds so far that passed.'),
  failed: count,
  evidence: z
    .number()
    .min(-1)
    .max(1)
    .describe('The progress of the decision, cut to −1 to 1: 1 means passed, −1 failed.'),
});
export type RoundPoint = z.infer<typeof roundPointSchema>;

const roundsRequirementSchema = z.object({
  scope: z.enum(['suite', 'tag', 'model', 'case']),
  subject: z.string().nullable().describe('The tag, the model or the title of the case; null for the suite.'),
  minimum: fraction,
  confidence: fraction,
  state: z
    .enum(['passed', 'failed', 'open', 'counted'])
    .describe('`counted`: every result is known or recorded, so that the count decides.'),
  decidedAfter: count.nullable().describe('The round after which it was decided; null where it was not.'),
  rounds: count.describe('Rounds in which all of its cases have a result.'),
  further: count
    .nullable()
    .describe('Iterations that would probably decide it at this rate; null where it is decided, or too many to say.'),
  path: z.array(roundPointSchema).describe('By round, to the one that decided.'),
});
export type RoundsRequirement = z.infer<typeof roundsRequirementSchema>;

export const roundsReportSchema = z.object({
  min: count,
  max: count,
  ran: count.describe('The most rounds of a case.'),
  iterations: count.describe('With a result, over all cases.'),
  requirements: z.array(roundsRequirementSchema).describe("The suite's own minimum first."),
  fixed: z
    .object({
      iterations: count.describe('The fixed number of iterations that has the same power, for the whole suite.'),
      saved: z.int().describe('The number of iterations that were saved; below 0 if more ran.'),
      savedCost: money.nullable().describe('In the currency of the prices; null where the cost is not known.'),
    })
    .nullable()
    .describe('Null where the minimum of the suite is not decided, or iterations share a process.'),
});

/** How each requirement of a suite was decided, round by round. */
export type RoundsReport = z.infer<typeof roundsReportSchema>;
