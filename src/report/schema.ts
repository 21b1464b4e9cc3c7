import { z } from 'zod';
import { ProtocolError } from '../base/errors.ts';
import { concurrencyRules } from '../model/concurrency.ts';
import { decideDisposition, dispositions } from '../model/disposition.ts';
import { type Report, reportSchemaVersion } from '../model/report.ts';
import { comparisonSchema } from './comparison-schema.ts';
import { caseRounds, count, fraction, run, suiteRounds } from './rounds-schema.ts';

const milliseconds = z.number().min(0).max(1e12);
const outcome = z
  .enum(['passed', 'failed', 'inconclusive'])
  .describe('`inconclusive` means that nothing was established; it is not a failure.');

const verdict = z.object({
  outcome,
  reasons: z
    .array(
      z.object({
        code: z.enum([
          'minimum-met',
          'below-minimum',
          'minimum-unsettled',
          'tag-below-minimum',
          'case-below-minimum',
          'required-failed',
          'regressed',
          'demand-unjudged',
          'budget-exceeded',
          'quarantine-expired',
          'quarantine-stale',
          'suite-removed',
          'required-case-removed',
          'requirement-lowered',
          'quarantine-widened',
          'baseline-lowered',
          'run-not-completed',
          'run-not-created',
          'no-iterations',
          'only-probation',
          'iterations-missing',
          'results-unknown',
          'results-inconsistent',
          'server-lost',
          'sandbox-unavailable',
          'tunnel-lost',
          'deadline',
          'cancelled',
          'infrastructure',
        ]),
        message: z.string(),
        output: z
          .array(z.string())
          .exactOptional()
          .describe('The last lines that the server wrote, where the message is about its process.'),
        suiteId: z.string().exactOptional(),
        caseId: z.string().exactOptional(),
      }),
    )
    .describe('Most decisive first. Codes are stable; messages are for people.'),
});

const totals = z.object({
  cases: count,
  iterations: count.describe('Iterations that carry a result: passed + failed.'),
  passed: count,
  failed: count,
  passRate: fraction.nullable().describe('0 to 1; null where no iteration was scored.'),
});

const toolCalls = z.array(z.object({ toolName: z.string(), arguments: z.record(z.string(), z.unknown()) }));

const demand = z.object({
  kind: z.enum(['minimum-pass-rate', 'required-case', 'budget', 'quarantine']),
  scope: z.enum(['suite', 'tag', 'case', 'budget']),
  subject: z.string().nullable().describe('The tag, the title of the case, or the budget; null for the suite.'),
  demand: z.string().describe('What is demanded, in a few words.'),
  source: z.string().describe('An option, a `file:line`, or `default`.'),
  state: z.enum(['met', 'not-met', 'unknown']),
  isDecisive: z.boolean().describe('Whether the verdict depends on it; else it is a warning only.'),
  finding: z.string(),
});

const suite = z.object({
  id: z.string(),
  name: z.string(),
  file: z.string().nullable(),
  minimumPassRate: fraction.describe('0 to 1.'),
  minimumPassRateSource: z.string().describe('An option, a `file:line`, or `default`.'),
  verdict,
  totals,
  run: run.nullable(),
  tunnelBreaks: count
    .default(0)
    .describe('How often the tunnel to the server broke off during the run and may have cut off calls of it.'),
  demands: z
    .array(demand)
    .default([])
    .describe("The requirements of the suite and their results; the suite's own minimum first."),
  ...suiteRounds,
  concurrency: z
    .object({
      setting: z.union([z.literal('auto'), z.int().min(1)]),
      source: z.string().describe('An option, a `file:line`, or `default`.'),
      rule: z.enum(concurrencyRules),
      limit: z.int().min(1).describe('The most iterations that could run at the same time.'),
      tool: z.string().nullable().describe('The first tool that is not declared read-only.'),
      cases: count,
      serialCases: count.describe('Cases that ran one iteration at a time.'),
    })
    .nullable()
    .default(null)
    .describe('How many iterations ran at the same time, and why; null where a hosted service decided that.'),
});

const failure = z.object({
  iterationId: z.string(),
  iterationNumber: z.number().nullable(),
  result: z.string(),
  reasons: z.array(z.string()).describe('Most telling first.'),
  step: z
    .object({ id: z.string(), index: z.number().describe('Counted from 0.'), kind: z.string() })
    .nullable()
    .describe('The step that failed, where one did.'),
  durationMs: milliseconds.nullable(),
  expectedToolCalls: toolCalls,
  actualToolCalls: toolCalls,
});

const caseReport = z.object({
  suiteId: z.string(),
  id: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  required: z.boolean().describe('Whether the case must pass on its own, whatever the pass rate.'),
  outcome,
  disposition: z
    .enum(dispositions)
    .exactOptional()
    .describe('How the case counts for the verdict; absent in reports of earlier versions.'),
  passed: count,
  total: count.describe('Scored iterations: passed + failed.'),
  planned: count.describe('Iterations asked for; more than `total` where some have no result.'),
  location: z.object({ file: z.string(), line: z.number() }).nullable(),
  definitionHash: z
    .string()
    .nullable()
    .default(null)
    .describe('Of what the case does, whatever it is called; null where unknown.'),
  durationMs: milliseconds.nullable().describe('Median over the scored iterations.'),
  failed: count,
  failures: z.array(failure).describe('Some of the iterations that did not pass; `failed` counts them all.'),
  quarantine: z
    .object({ owner: z.string(), reason: z.string(), expires: z.string(), source: z.string() })
    .nullable()
    .default(null)
    .describe('Why the case does not count for the time being; null where it does.'),
  ...caseRounds,
});

/** The shape of `report.json`. Unknown fields are allowed: the version changes only when a known one does. */
const writtenReport = z.object({
  schemaVersion: z.literal(reportSchemaVersion),
  generator: z.object({ name: z.string(), version: z.string() }),
  startedAt: z.string().describe('ISO 8601.'),
  durationMs: milliseconds,
  revision: z
    .object({ commit: z.string().nullable(), branch: z.string().nullable().describe('Or `PR` and its number.') })
    .nullable()
    .default(null)
    .describe('What was tested, where it is known.'),
  shard: z
    .object({
      index: z.int().min(1).max(256),
      total: z.int().min(1).max(256),
      digest: z.string().describe('Equal where jobs agree on all cases and how they are shared.'),
    })
    .nullable()
    .default(null)
    .describe('Which part of the cases was run; null for all of them.'),
  verdict,
  stopsJob: z
    .boolean()
    .default(true)
    .describe('Whether the verdict stops the job; a policy can let one go on that is not `passed`.'),
  totals,
  server: z
    .object({
      transport: z.enum(['stdio', 'http']),
      name: z.string().nullable(),
      version: z.string().nullable(),
      protocolVersion: z
        .string()
        .nullable()
        .describe('The oldest revision of MCP that the run spoke, or else what the server negotiated at its start.'),
      protocolVersions: z
        .array(z.string())
        .default([])
        .describe('Every revision that sessions of the run spoke; empty where that is not known.'),
      isolation: z
        .enum(['process per iteration', 'session per iteration', 'one process for the run', 'stateless'])
        .describe('What an iteration shares with the one before it.'),
      sandbox: z
        .object({
          level: z
            .enum(['none', 'isolated', 'confined'])
            .describe(
              '`isolated`: the server had processes of its own and could not write to what decides the verdict; `confined`: it could write only where it was allowed to.',
            ),
          network: z
            .enum(['shared', 'loopback'])
            .describe('`loopback`: it reached no other machine and no other server.'),
          why: z.string().describe('What made the sandbox, or why there was none.'),
        })
        .nullable()
        .default(null)
        .describe('How the server was isolated; null where the gate did not start it.'),
    })
    .nullable(),
  suites: z.array(suite),
  cases: z.array(caseReport).describe('By suite, worst first within each.'),
  comparison: comparisonSchema
    .nullable()
    .default(null)
    .describe('Against the baseline; null where none was given, or none was found.'),
  trend: z
    .object({
      branch: z.string().nullable(),
      runs: z
        .array(
          z.object({
            startedAt: z.string(),
            commit: z.string().nullable(),
            outcome,
            cases: count,
            total: count,
            passed: count,
          }),
        )
        .describe('Oldest first, without this gate.'),
    })
    .nullable()
    .default(null)
    .describe('Earlier gates of the branch; null where no history is kept.'),
  run: run.nullable().describe('The run of the first suite that has one.'),
  notes: z.array(z.string()).default([]).describe('What a reader should know in addition to the verdict.'),
});

/** A report of an earlier version gets the dispositions that it lacks. */
export const reportSchema = writtenReport.transform((report): Report => {
  const outcomes = new Map(report.suites.map(({ id, verdict }) => [id, verdict.outcome]));
  const cases = report.cases.map((testCase) => {
    const outcome = outcomes.get(testCase.suiteId) ?? report.verdict.outcome;
    return { ...testCase, disposition: testCase.disposition ?? decideDisposition(testCase, outcome) };
  });
  return { ...report, cases };
});

/**
 * Reads a report back.
 * @throws {ProtocolError} with the path of the first mismatch, when `value` is not a report of this version.
 */
export function parseReport(value: unknown): Report {
  const parsed = reportSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new ProtocolError(
    `This is no report of version ${reportSchemaVersion}: ${path || 'value'}: ${issue?.message}`,
    {
      path,
      hint: 'Pass a report.json that this version, or one with the same schemaVersion, has written.',
      cause: parsed.error,
    },
  );
}

/** Builds the JSON Schema (2020-12) that is published as `report.schema.json`. */
export function buildReportJsonSchema(): Record<string, unknown> {
  // `input` leaves objects open, as the promise about unknown fields demands.
  const { $schema, ...schema } = z.toJSONSchema(writtenReport, { io: 'input', reused: 'ref' });
  return { $schema, title: 'Report of mcp-eval-ci', ...schema };
}
