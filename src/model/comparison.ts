import { z } from 'zod';
import { caseChanges } from './case-change.ts';
import { count, countsSchema, fraction } from './quantities.ts';

const difference = z.number().min(-1).max(1);

const baselineCaseSchema = z.object({
  suiteId: z.string(),
  id: z.string(),
  title: z.string().nullable().describe('Null where only the id was kept.'),
  ...countsSchema.shape,
  definitionHash: z.string().nullable(),
  replayed: count.default(0).describe('Those of the iterations in which a recording answered.'),
});
export type BaselineCase = z.infer<typeof baselineCaseSchema>;

const aboutBaseline = {
  source: z.string().describe('As it was named in the options: a path, `branch:main` or `commit:…`.'),
  startedAt: z.string().describe('ISO 8601.'),
  commit: z.string().nullable(),
  branch: z.string().nullable(),
};

export const baselineSchema = z.object({ ...aboutBaseline, cases: z.array(baselineCaseSchema) });

/** The results of an earlier gate, as far as they can be compared with this gate's results. */
export type Baseline = z.infer<typeof baselineSchema>;

/** Limits how much worse than the baseline a gate may be. */
export interface RegressionLimits {
  /** The largest number of cases that may regress, over all suites. */
  maximumRegressions: number;
  /** The largest fall of a suite's pass rate, a fraction 0..1; null if only single cases are compared. */
  maximumRateDrop: number | null;
}

const caseComparisonSchema = z.object({
  suiteId: z.string(),
  id: z.string(),
  title: z.string(),
  change: z.enum(caseChanges),
  baseline: countsSchema.nullable().describe('Null where that side has no such case.'),
  current: countsSchema.nullable(),
  confirming: countsSchema
    .exactOptional()
    .describe('Further iterations, which ran because the case seemed to have regressed.'),
  unconfirmed: count
    .exactOptional()
    .describe(
      'The number of further iterations that would confirm the regression; absent if they ran or are not needed.',
    ),
});
export type CaseComparison = z.infer<typeof caseComparisonSchema>;

export const rateChangeSchema = z.object({
  suiteId: z.string(),
  baseline: countsSchema,
  current: countsSchema,
  difference: difference.describe('Now minus then.'),
  lower: difference.describe('The lower end of the interval with 95% confidence.'),
  upper: difference.describe('The upper end of the interval with 95% confidence.'),
  worse: count.describe('Cases of which a smaller share passes now.'),
  better: count,
  pValue: fraction.describe('The probability of a change at least this uneven if the server is as good as before.'),
  fallPValue: fraction.describe(
    'Of so few iterations that pass now, or fewer, if each case passed as often as before.',
  ),
  tasks: z
    .object({
      cases: count.describe('Cases with as many iterations now as then, over which it is tested.'),
      pValue: fraction
        .nullable()
        .describe(
          'Of so great a fall, if each case were as likely to pass more often as to pass less often; null for fewer than five cases.',
        ),
    })
    .exactOptional()
    .describe('Where the policy asks for a confidence over tasks: then this decides whether a fall is shown.'),
  smallestFall: fraction
    .nullable()
    .exactOptional()
    .describe(
      'The smallest fall that `maximumRateDrop` finds with a power of 90% if all cases fall alike; null where it finds none; absent without a limit.',
    ),
});

/** The pass rate of a suite before and now, over the cases that have equal definitions and results on both sides. */
export type RateChange = z.infer<typeof rateChangeSchema>;

/** The comparison of a gate with its baseline, case by case. */
export const comparisonSchema = z.object({
  baseline: z.object(aboutBaseline),
  maximumRegressions: count,
  maximumRateDrop: fraction.nullable().describe('0 to 1; null for no limit.'),
  counts: z.record(z.enum(caseChanges), count),
  comparable: z
    .object({ baseline: countsSchema, current: countsSchema })
    .describe('Over the cases with equal definitions and results on both sides.'),
  rates: z.array(rateChangeSchema).describe('The same for each suite, with what it shows.'),
  notRun: count.describe('Cases of the baseline that this gate was not asked to run.'),
  mixed: count
    .default(0)
    .describe("Comparable cases with recorded answers of models on one side alone: a difference may be the model's."),
  cases: z.array(caseComparisonSchema).describe('Everything but the unchanged ones, regressions first.'),
});
export type Comparison = z.infer<typeof comparisonSchema>;
