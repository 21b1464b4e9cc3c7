import { z } from 'zod';
import { caseChanges } from '../model/comparison.ts';
import { count, counts, fraction } from './rounds-schema.ts';

const difference = z.number().min(-1).max(1);

/** What `report.json` holds of the comparison with a baseline. */
export const comparisonSchema = z.object({
  baseline: z.object({
    source: z.string().describe('As it was named in the options.'),
    startedAt: z.string().describe('ISO 8601.'),
    commit: z.string().nullable(),
    branch: z.string().nullable(),
  }),
  maximumRegressions: count,
  maximumRateDrop: fraction.nullable().default(null).describe('0 to 1; null for no limit.'),
  counts: z.record(z.enum(caseChanges), count),
  comparable: z
    .object({ baseline: counts, current: counts })
    .describe('Over the cases with equal definitions and results on both sides.'),
  rates: z
    .array(
      z.object({
        suiteId: z.string(),
        baseline: counts,
        current: counts,
        difference: difference.describe('Now minus then.'),
        lower: difference.describe('Of the interval with 95% confidence.'),
        upper: difference,
        worse: count.describe('Cases of which a smaller share passes now.'),
        better: count,
        pValue: fraction.describe('Of so uneven a change, if the server were as good as it was.'),
      }),
    )
    .default([])
    .describe('The same for each suite, with what it shows.'),
  notRun: count.describe('Cases of the baseline that this gate was not asked to run.'),
  cases: z
    .array(
      z.object({
        suiteId: z.string(),
        id: z.string(),
        title: z.string(),
        change: z.enum(caseChanges),
        baseline: counts.nullable(),
        current: counts.nullable(),
      }),
    )
    .describe('Everything but the unchanged ones, regressions first.'),
});
