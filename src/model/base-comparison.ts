import { z } from 'zod';
import { rateChangeSchema } from './comparison.ts';
import { count, countsSchema, fraction } from './quantities.ts';

/** The results of one side, one character per round; `-` for a round without a result. */
const marks = z.string().regex(/^[pf-]*$/);

const pairedCaseSchema = z.object({
  id: z.string(),
  base: marks.describe('By round: `p` passed, `f` failed, `-` without a result.'),
  head: marks.describe('The same iterations of the change, those included that ran for the comparison alone.'),
  cached: count.describe('The number of iterations of the base that an earlier job has run.'),
  confirming: count.describe(
    'How many of the last rounds ran only because the case seemed worse; no rate counts them.',
  ),
});

/** The iterations of one case on both sides, round by round. */
export type PairedCase = z.infer<typeof pairedCaseSchema>;

/** How long one server process lives: from one iteration to several rounds, shortest first. */
export const processScopes = ['iteration', 'round', 'several-rounds'] as const;
export type ProcessScope = (typeof processScopes)[number];

const aboutBase = {
  label: z.string().describe('The name of the base, for people.'),
  commit: z.string().nullable().describe('Null where the base is known only by how its server starts.'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .describe('Decided which side ran first in each round.'),
  problem: z.string().nullable().describe('Why nothing is compared; null where something is.'),
  processes: z
    .enum(processScopes)
    .describe(
      'What one process of a server served: an iteration, a round, or several rounds, which the comparison then assumes to share no state.',
    ),
};

/** The results of the base, measured in the same job as the results of a suite. */
export const baseResultsSchema = z.object({
  ...aboutBase,
  cases: z.array(pairedCaseSchema),
  newCases: z.array(z.string()).describe('Ids of the cases that the base does not have; they run on the change alone.'),
});
export type BaseResults = z.infer<typeof baseResultsSchema>;

const caseComparisonSchema = z.object({
  suiteId: z.string(),
  id: z.string(),
  title: z.string(),
  base: countsSchema.describe('Over the pairs.'),
  head: countsSchema.describe('Over the pairs.'),
  broken: count.describe('Pairs that passed in the base and failed in the change.'),
  fixed: count.describe('Pairs that failed in the base and passed in the change.'),
  isWorse: z.boolean().describe('True if the pairs establish that the case is worse than in the base.'),
});
export type BaseCaseComparison = z.infer<typeof caseComparisonSchema>;

/** The comparison of the change with its base, case by case. Both ran in one job. */
export const baseComparisonSchema = z.object({
  ...aboutBase,
  isDecisive: z.boolean().describe('True if the verdict depends on it; a stored baseline goes first.'),
  confidence: fraction.describe('One minus the chance that anything of an unchanged server is called worse.'),
  maximumRegressions: count,
  maximumRateDrop: fraction.nullable(),
  isWorse: z.boolean().describe('True if the pairs of all cases together establish that the change is worse.'),
  newCases: count,
  cached: count
    .exactOptional()
    .describe('How many results of the base an earlier job has measured; absent in reports of earlier versions.'),
  unpaired: count.describe('Cases of both sides without a pair of results.'),
  uncompared: z
    .array(z.object({ suiteId: z.string(), id: z.string(), title: z.string() }))
    .describe(
      'Those without a model that have results on the change alone: the base must have failed before its steps.',
    ),
  rates: z
    .array(rateChangeSchema.extend({ isWorse: z.boolean().describe('True if the pairs of the suite establish it.') }))
    .describe('The change of the pass rate of each suite, over the pairs.'),
  cases: z.array(caseComparisonSchema).describe('Every case with a pair, the worse ones first.'),
});
export type BaseComparison = z.infer<typeof baseComparisonSchema>;
