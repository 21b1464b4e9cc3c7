import { z } from 'zod';
import { baseResultsSchema, processScopes } from './base-comparison.ts';
import { type CaseReport, caseReportSchema, type IterationFailure } from './case-report.ts';
import { concurrencySchema } from './concurrency.ts';
import { hostIdentitySchema } from './host-identity.ts';
import { count, countsSchema, milliseconds } from './quantities.ts';
import { runSchema } from './run.ts';
import { judgeUsageSchema, modelUsageSchema } from './usage.ts';
import { reasonSchema } from './verdict.ts';

/** The page of a run, if the service has one. */
const url = z.string().nullable().describe('The page on which the service shows the run; null where there is none.');

export const runReportSchema = z.object({ id: z.string(), suiteId: z.string(), status: z.string(), url });
/** A run of a suite: its id and how it ended. */
export type RunReport = z.infer<typeof runReportSchema>;

export const retryRoundSchema = z.object({
  round: z.int().min(1).describe('The first run is no retry.'),
  cases: count.describe('Cases that were run again.'),
  run: runReportSchema.nullable().describe('Null where it could not be started.'),
  shortfall: z.string().nullable().describe('Why it was not completed and counts for nothing; null where it was.'),
});

/** One more run of the cases that failed in every earlier round. */
export type RetryRound = z.infer<typeof retryRoundSchema>;

const caseResultsSchema = z.object({
  id: z.string(),
  title: z.string(),
  variantOf: z
    .array(z.object({ id: z.string(), title: z.string() }))
    .exactOptional()
    .describe('The cases of the file that it is a part of, with one of their rows, models or revisions.'),
  tags: z.array(z.string()),
  isRequired: z.boolean(),
  location: z.object({ file: z.string(), line: z.number(), column: z.number() }).nullable(),
  definitionHash: z.string().nullable(),
  planned: count.describe('Iterations that the plan asked for; else those read, or one where none was.'),
  passed: count,
  failed: count,
  unscored: count.describe('Iterations that ended without a result.'),
  durationsMs: z.array(milliseconds).describe('The durations of the scored iterations that reported one.'),
  tokensUsed: count.describe('Over all iterations, further rounds included.'),
  model: z.string().nullable().describe('`provider/name`; null where no model takes part, or the service chose it.'),
  host: hostIdentitySchema
    .exactOptional()
    .describe('The host whose treatment of the server the model saw; missing for the loop of the gate itself.'),
  usage: modelUsageSchema
    .nullable()
    .describe('Over all iterations, further rounds included; null where no model took part.'),
  judges: z.array(judgeUsageSchema).default([]).describe('The usage of its judges, counted apart.'),
  replayed: countsSchema.describe('Scored iterations in which at least one answer came from a recording.'),
  failures: caseReportSchema.shape.failures,
  retries: z.array(countsSchema).describe('Its results in the further rounds.'),
  confirming: countsSchema
    .exactOptional()
    .describe('Iterations that ran only because it seemed to have regressed since the baseline; no rate counts them.'),
  maxRuns: count
    .exactOptional()
    .describe('Where iterations are given out round by round: how many it may have at most.'),
  isDeterministic: z.literal(true).exactOptional().describe('It runs once and enters every rate as known.'),
  byRound: z
    .string()
    .regex(/^[pfPF]*$/)
    .exactOptional()
    .describe('Its result in each round: `p` passed, `f` failed; as capitals where a recording answered.'),
});
export type CaseResults = z.infer<typeof caseResultsSchema>;

export const roundsSchema = z.object({
  min: count.describe('Rounds that run in any case.'),
  max: count.describe('Rounds that may run at most.'),
  runs: z.array(runReportSchema).describe('One for each block of rounds, the first included.'),
  processes: z
    .enum(processScopes)
    .default('several-rounds')
    .describe(
      'What one process of a server served. Where it is not an iteration, the mean of a round is one observation; where it is several rounds, these are assumed to share no state.',
    ),
});

/** How the iterations of a suite were scheduled: in rounds. In each round, every undecided case runs once. */
export type Rounds = z.infer<typeof roundsSchema>;

const suiteResultsSchema = z.object({
  suiteId: z.string(),
  name: z.string(),
  file: z.string().nullable(),
  run: runSchema.nullable().describe('As last read; null where none was created.'),
  runUrl: url,
  cases: z.array(caseResultsSchema).describe('In the order of the file.'),
  leftOut: z.array(z.string()).describe("Ids of the suite's cases that were not selected."),
  isComplete: z.boolean().describe('True if every page of iterations was read to its end.'),
  iterationsRead: count.describe('Distinct iterations, scored or not, those of unknown cases included.'),
  unknownIterations: count.describe('Iterations read that belong to no case of the suite.'),
  overruled: count.describe('Iterations that the service passed and the assertions of the gate did not.'),
  contradicted: count.describe('Iterations with two different results, or listed once and not again.'),
  tunnelBreaks: count.describe('The number of times that the tunnel broke and may have cut off calls.'),
  interruption: reasonSchema.nullable().describe('The reason why the run was cut short on this side.'),
  retries: z.array(retryRoundSchema).describe('Further rounds; everything else is of the first.'),
  isStoppedEarly: z.boolean().describe('True if the run was cancelled because its verdict was settled.'),
  concurrency: concurrencySchema.nullable(),
  base: baseResultsSchema
    .exactOptional()
    .describe('The results of the base in the same rounds; absent without a base.'),
  rounds: roundsSchema.exactOptional().describe('Absent where the number of iterations was fixed.'),
});

/**
 * The data kept of one run of a suite: counters, and the evidence of failures. Together with the policy, it is the only input of the
 * verdict.
 */
export type SuiteResults = z.infer<typeof suiteResultsSchema>;

/** The same data in a report, which stores the evidence in its own list of cases. */
export const reportedResultsSchema = suiteResultsSchema.extend({
  cases: z.array(caseResultsSchema.omit({ failures: true })).describe('In the order of the file.'),
});
/** What was measured, without a verdict. */
export type ReportedResults = z.infer<typeof reportedResultsSchema>;

/** Restores the failures of each case, which a report stores in its list of cases. */
export function readResults({
  results,
  cases,
}: {
  results: readonly ReportedResults[];
  cases: readonly CaseReport[];
}): SuiteResults[] {
  const keyOf = (suiteId: string, caseId: string) => JSON.stringify([suiteId, caseId]);
  const failures = new Map(cases.map((testCase) => [keyOf(testCase.suiteId, testCase.id), testCase.failures]));
  return results.map((suite) => ({
    ...suite,
    cases: suite.cases.map((testCase) => ({
      ...testCase,
      failures: failures.get(keyOf(suite.suiteId, testCase.id)) ?? [],
    })),
  }));
}

/** The facts about a suite before its run. The suite comes from a file, or the service stores it. */
export interface SuiteOutline extends Pick<SuiteResults, 'name' | 'file' | 'leftOut'> {
  id: string;
  cases: CaseOutline[];
}

export interface CaseOutline extends Pick<
  CaseResults,
  | 'id'
  | 'title'
  | 'variantOf'
  | 'tags'
  | 'isRequired'
  | 'location'
  | 'definitionHash'
  | 'model'
  | 'host'
  | 'maxRuns'
  | 'isDeterministic'
> {
  /** The number of iterations that the plan asks for; null if the service decides. */
  runs: number | null;
}

/** The outcome of the assertions that only the gate evaluates, for an iteration that the service passed. */
export type OwnJudgement =
  | { kind: 'passed' }
  /** `step` is the first step that fails; null for a check at the end of the case. */
  | { kind: 'failed'; reason: string; step: IterationFailure['step'] }
  /** The service recorded too little to decide. */
  | { kind: 'unscored'; reason: string };
