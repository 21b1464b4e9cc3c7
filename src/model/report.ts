import { z } from 'zod';
import { baseComparisonSchema } from './base-comparison.ts';
import { behaviourReportSchema } from './behaviour.ts';
import { caseReportSchema, repeatRatesSchema } from './case-report.ts';
import { comparisonSchema } from './comparison.ts';
import { coverageReportSchema } from './coverage-report.ts';
import { currencySchema, judgeSpendingSchema } from './cost.ts';
import { concurrencySchema } from './concurrency.ts';
import { hostIdentitySchema } from './host-identity.ts';
import { gatePolicySchema } from './policy.ts';
import { count, countsSchema, fraction, milliseconds, money } from './quantities.ts';
import { reportedResultsSchema, retryRoundSchema, runReportSchema } from './results.ts';
import { roundsReportSchema } from './rounds.ts';
import { surfaceReportSchema } from './surface-report.ts';
import { hostsComparisonSchema } from './hosts-comparison.ts';
import { modelUsageSchema } from './usage.ts';
import { outcomeSchema, verdictSchema } from './verdict.ts';

/** Raise it when a field is renamed or changes its meaning, not for new fields. */
export const reportSchemaVersion = '3';

const totalsSchema = z.object({
  cases: count,
  iterations: count.describe('Iterations that carry a result: passed + failed.'),
  passed: count,
  failed: count,
  passRate: fraction.nullable().describe('0 to 1; null where no iteration was scored.'),
});
/** The counts of all iterations that have a result, and their pass rate from 0 to 1. */
export type Totals = z.infer<typeof totalsSchema>;

const requirementSchema = z.object({
  kind: z.enum(['minimum-pass-rate', 'required-case', 'budget', 'quarantine']),
  scope: z.enum(['suite', 'tag', 'model', 'case', 'budget']),
  subject: z
    .string()
    .nullable()
    .describe('The tag, the model, the title of the case, or the budget; null for the suite.'),
  requirement: z.string().describe('The requirement, in a few words.'),
  source: z.string().describe('An option, a `file:line`, or `default`.'),
  state: z.enum(['met', 'not-met', 'unknown']),
  isDecisive: z.boolean().describe('True if the verdict depends on it; otherwise it is only a warning.'),
  finding: z.string(),
});

/** One requirement of the policy, its source, and whether it was met. */
export type RequirementReport = z.infer<typeof requirementSchema>;

const suiteRepeatsSchema = repeatRatesSchema.extend({
  cases: count.describe('Cases with several iterations, of which it is the mean.'),
});
export type SuiteRepeats = z.infer<typeof suiteRepeatsSchema>;

const suiteReportSchema = z.object({
  id: z.string(),
  name: z.string(),
  file: z.string().nullable(),
  minimumPassRate: fraction.describe('0 to 1.'),
  minimumPassRateSource: z.string().describe('An option, a `file:line`, or `default`.'),
  verdict: verdictSchema,
  totals: totalsSchema,
  run: runReportSchema.nullable(),
  tunnelBreaks: count.describe(
    'How often the tunnel to the server broke off during the run and may have cut off calls of it.',
  ),
  requirements: z
    .array(requirementSchema)
    .describe("The requirements of the suite and their results; the suite's own minimum first."),
  retries: z.array(retryRoundSchema).describe('Further rounds, in which only what had failed was run again.'),
  repeats: suiteRepeatsSchema
    .nullable()
    .describe('Over the cases that count; k is the smallest number of iterations of those with several.'),
  stoppedEarly: z
    .object({ planned: count, ran: count })
    .nullable()
    .describe('Iterations asked for and run, where the verdict was settled before the end; the rate is biased then.'),
  concurrency: concurrencySchema
    .nullable()
    .describe(
      'The number of iterations that ran at the same time, and the reason; null if a hosted service decided it.',
    ),
  usage: modelUsageSchema.nullable().describe('The usage of its model calls in all rounds; null without a model.'),
  cost: money.nullable().describe('The cost of its model calls, by the prices of the policy; null if unknown.'),
  rounds: roundsReportSchema
    .exactOptional()
    .describe('The decisions on its requirements, round by round; absent if the number of iterations was fixed.'),
});
/** A suite with its verdict and its requirements. */
export type SuiteReport = z.infer<typeof suiteReportSchema>;

const revisionSchema = z.object({
  commit: z.string().nullable(),
  branch: z.string().nullable().describe('Or `PR` and its number.'),
});
export type Revision = z.infer<typeof revisionSchema>;

const shardSchema = z.object({
  index: z.int().min(1).max(256),
  total: z.int().min(1).max(256),
  digest: z.string().describe('Equal where jobs agree on all cases and how they are shared.'),
  selection: z
    .object({ evals: z.array(z.string()), cases: z.array(z.string()), tags: z.array(z.string()) })
    .exactOptional()
    .describe(
      'The selection before it was cut into shards: patterns of evals files, names of cases and tags; empty for all.',
    ),
});

/** The part of the cases that this job ran, if several jobs share them. */
export type ShardReport = z.infer<typeof shardSchema>;

const sandboxSchema = z.object({
  level: z
    .enum(['none', 'isolated', 'confined'])
    .describe(
      '`isolated`: the server had processes of its own and could not write to what decides the verdict; `confined`: it could write only where it was allowed to.',
    ),
  network: z.enum(['shared', 'loopback']).describe('`loopback`: it reached no other machine and no other server.'),
  why: z.string().describe('The program that made the sandbox, or the reason why there was none.'),
});

/** The restrictions that the machine enforced while the server ran. */
export type SandboxReport = z.infer<typeof sandboxSchema>;

const serverSchema = z.object({
  label: z.string().exactOptional().describe('Its name in `mcp-config`; absent if options describe it.'),
  transport: z
    .enum(['stdio', 'http', 'sse', 'in-process'])
    .describe(
      '`http` is streamable HTTP, `sse` the transport HTTP+SSE of MCP 2024-11-05. `in-process` is an object in the process of the gate.',
    ),
  name: z.string().nullable().describe('As the server gave it in its handshake.'),
  version: z.string().nullable(),
  protocolVersion: z
    .string()
    .nullable()
    .describe('The oldest revision of MCP that the run spoke, or else what the server negotiated at its start.'),
  protocolVersions: z
    .array(z.string())
    .describe('Every revision that sessions of the run spoke, oldest first; empty where that is not known.'),
  isolation: z
    .enum(['process per iteration', 'session per iteration', 'one process for the run', 'stateless'])
    .describe('The process and session that an iteration shares with the one before it.'),
  sandbox: sandboxSchema.nullable().describe('The isolation of the server; null if the gate did not start it.'),
});
/** The server that was tested, as it introduced itself. */
export type ServerReport = z.infer<typeof serverSchema>;

const trendRunSchema = z.object({
  startedAt: z.string(),
  commit: z.string().nullable(),
  outcome: outcomeSchema,
  cases: count,
  total: count,
  passed: count,
  toolBytes: z
    .record(z.string(), count)
    .exactOptional()
    .describe('The bytes that a model reads of each tool; missing if the surface was not compared.'),
});
export type TrendRun = z.infer<typeof trendRunSchema>;

const trendSchema = z.object({
  branch: z.string().nullable(),
  runs: z.array(trendRunSchema).describe('Oldest first, without this gate.'),
});

/** The earlier gates of the same branch: at most `maxTrendRuns`. */
export type Trend = z.infer<typeof trendSchema>;

const spendingShape = {
  usage: modelUsageSchema,
  cost: money.nullable().describe('By the prices of the policy; null where a part of it is not known.'),
};

const modelSummarySchema = z.object({
  model: z.string().describe('`provider/name`.'),
  host: hostIdentitySchema.exactOptional().describe('The host in which it was asked; missing for the gate itself.'),
  ...countsSchema.shape,
  replayed: count.describe('Those of the scored iterations in which at least one answer came from a recording.'),
  range: z
    .object({ lower: fraction, upper: fraction })
    .nullable()
    .describe('The 95% confidence interval of the pass rate of live iterations; null if there are none.'),
  ...spendingShape,
});
export type ModelSummary = z.infer<typeof modelSummarySchema>;

const modelsSchema = z.object({
  models: z.array(modelSummarySchema).describe('Over the cases that count, each model in the order of its first case.'),
  ...spendingShape,
  currency: currencySchema,
  judges: z
    .array(judgeSpendingSchema)
    .default([])
    .describe('The usage and cost of judges. `usage` and `cost` are those of the models under test.'),
  costGaps: z.array(z.string()).describe('The unknown parts of the cost; empty if all of it is known.'),
});

/** The results of a gate's cases by model, and the cost of the models. */
export type ModelsReport = z.infer<typeof modelsSchema>;

/** The schema of `report.json`. It allows unknown fields: the version changes only when a known field does. */
export const reportSchema = z.object({
  schemaVersion: z.literal(reportSchemaVersion),
  generator: z.object({ name: z.string(), version: z.string() }),
  startedAt: z.string().describe('ISO 8601.'),
  durationMs: milliseconds,
  revision: revisionSchema.nullable().describe('The revision that was tested; null if unknown.'),
  shard: shardSchema.nullable().describe('The part of the cases that was run; null for all of them.'),
  verdict: verdictSchema,
  stopsJob: z
    .boolean()
    .describe('True if the verdict stops the job; a policy can let a job go on whose verdict is not `passed`.'),
  totals: totalsSchema,
  server: serverSchema.nullable().describe('The first one; null where none was started or found.'),
  otherServers: z.array(serverSchema).default([]).describe('Further servers of the gate.'),
  suites: z.array(suiteReportSchema),
  cases: z.array(caseReportSchema).describe('By suite, worst first within each.'),
  comparison: comparisonSchema
    .nullable()
    .describe('Against the baseline; null where none was given, or none was found.'),
  baseComparison: baseComparisonSchema
    .nullable()
    .default(null)
    .describe('Against the base that ran in the same job; null where none was asked for.'),
  surface: surfaceReportSchema
    .exactOptional()
    .describe(
      'The tool surface of the server, compared with the one that it promised; absent where it is not compared.',
    ),
  hosts: hostsComparisonSchema
    .exactOptional()
    .describe(
      'What hosts make of the servers, compared with those before the change; absent where the policy names no host.',
    ),
  behaviour: behaviourReportSchema
    .exactOptional()
    .describe('How the answers of the server differ from those of the base; absent where they are not compared.'),
  coverage: coverageReportSchema
    .exactOptional()
    .describe('The parts of the surface of the servers that the evals used; absent if not measured.'),
  models: modelsSchema.nullable().describe('The results and the cost of the models; null without a model.'),
  trend: trendSchema.nullable().describe('Earlier gates of the branch; null where no history is kept.'),
  run: runReportSchema.nullable().describe('The run of the first suite that has one.'),
  notes: z.array(z.string()).describe('Sentences that a reader should know in addition to the verdict.'),
  repeat: z
    .string()
    .exactOptional()
    .describe(
      'The command that runs the evals again, for a POSIX shell, without evals files, cases and secrets; absent if unknown.',
    ),
  inspection: z
    .string()
    .exactOptional()
    .describe(
      'The command line with which the MCP Inspector starts a session with the server, without a method; absent if the project does not have it.',
    ),
  policy: gatePolicySchema.describe(
    'What was required, and where that was said. With `results`, it decides the verdict.',
  ),
  results: z
    .array(reportedResultsSchema)
    .describe('The measured results by run: one for each suite, or one for each shard that has cases of it.'),
});

/**
 * All results at the end of a gate: one immutable, JSON-serialisable value. It is written as `report.json` and is the only input of every
 * renderer. Texts are unchanged; the sinks escape and redact them.
 */
export type Report = z.infer<typeof reportSchema>;

/** Builds the JSON Schema (2020-12) that is published as `report.schema.json`. */
export function buildReportJsonSchema(): Record<string, unknown> {
  // `input` leaves objects open, as the promise about unknown fields requires.
  const { $schema, ...schema } = z.toJSONSchema(reportSchema, { io: 'input', reused: 'ref' });
  return { $schema, title: 'Report of mcp-eval-ci', ...schema };
}
