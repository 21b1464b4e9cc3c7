import { z } from 'zod';

// What the schema of a report says of runs and rounds, and the small parts that it shares with the rest.

/** Far beyond any gate, and far from where sums lose precision. */
const maxCount = 1e9;

export const count = z.int().min(0).max(maxCount);
export const fraction = z.number().min(0).max(1);
export const counts = z.object({ passed: count, total: count });

export const run = z.object({
  id: z.string(),
  suiteId: z.string(),
  status: z.string(),
  url: z
    .string()
    .nullable()
    .default(null)
    .describe('The page on which the service shows it; null where there is none.'),
});

const repeatRates = {
  k: z.int().min(1),
  passAtK: fraction.describe('pass@k: how likely it is that at least one of k iterations passes.'),
  passHatK: fraction.describe('pass^k: how likely it is that all of k iterations pass.'),
};

/** What a suite's part of the report says of its rounds and repeats. */
export const suiteRounds = {
  retries: z
    .array(
      z.object({
        round: z.int().min(1).describe('The first run is no retry.'),
        cases: count.describe('Cases that were run again.'),
        run: run.nullable().describe('Null where it could not be started.'),
        shortfall: z
          .string()
          .nullable()
          .describe('Why it was not completed and counts for nothing; null where it was.'),
      }),
    )
    .default([])
    .describe('Further rounds, in which only what had failed was run again.'),
  repeats: z
    .object({ ...repeatRates, cases: count.describe('Cases with several iterations, of which it is the mean.') })
    .nullable()
    .default(null)
    .describe('Over the cases that count; k is the smallest number of iterations of those with several.'),
  stoppedEarly: z
    .object({ planned: count, ran: count })
    .nullable()
    .default(null)
    .describe('Iterations asked for and run, where the verdict was settled before the end; the rate is biased then.'),
};

/** The same of a case. */
export const caseRounds = {
  trial: z
    .object({ passedGates: count.describe('Of late, in a row.'), neededGates: count })
    .nullable()
    .default(null)
    .describe('How far it is from being trusted, and counted; null where it counts.'),
  classification: z
    .enum(['passed', 'flaky', 'failed'])
    .nullable()
    .default(null)
    .describe('Over all rounds: `flaky` failed at first and passed in full later; null where nothing was established.'),
  retries: z
    .array(counts)
    .default([])
    .describe('What the rounds after the first made of it; the counts above are those of the first.'),
  flaky: z
    .object({ effect: z.enum(['fail', 'pass', 'report']), source: z.string() })
    .nullable()
    .default(null)
    .describe('How a flaky case counts: as at first, as in its last round, or not at all; null for any other.'),
  repeats: z.array(z.object(repeatRates)).default([]).describe('From the iterations of the first round, by k.'),
};
