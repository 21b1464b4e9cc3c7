import { z } from 'zod';
import type { CoverageKind } from '../model/coverage-report.ts';
import { flakyEffects, inconclusiveEffects, protections, retryRounds, staleEffects } from '../model/policy.ts';
import { surfaceEffects } from '../model/surface-policy.ts';
import { parsePassRate } from '../model/rate.ts';
import { confidenceFamilies, confidencePopulations } from '../model/rounds.ts';
import { ageInDays, modelPattern, passRate, pointDrop, text, timeout, withIssueCode } from './scalar-schemas.ts';
import { quoteValue } from './findings.ts';

/** Parses a confidence written as a percentage into a fraction: at least 50 %, less than 100 %. */
const confidence = z
  .union([
    z.string().meta({ pattern: '^\\s*\\d+(\\.\\d{1,4})?\\s*%?\\s*$' }),
    z.number().meta({ minimum: 50, exclusiveMaximum: 100 }),
  ])
  .meta({
    description: 'How sure it has to be that a minimum is met, or is not; without it the count alone decides.',
    examples: ['95%'],
  })
  .transform((written, context) => {
    const parsed = parsePassRate(written);
    if (parsed.ok && parsed.passRate >= 0.5 && parsed.passRate < 1) return parsed.passRate;
    const message = `${JSON.stringify(written)} is not a confidence; write a percentage from 50% to 99.9%, such as 95%`;
    context.addIssue({ code: 'custom', message, params: { code: 'bad-confidence' } });
    return z.NEVER;
  });

const datePattern = /^\d{4}-\d{2}-\d{2}$/;

const date = z
  .string()
  .refine(
    (written) => datePattern.test(written) && toDay(written) === written,
    withIssueCode('bad-date', (written) => `${JSON.stringify(written)} is not a day; write it as 2026-12-31`),
  )
  .meta({ pattern: datePattern.source });

/** Formats a date as a day. A day that the calendar does not have comes back as another one, or as undefined. */
function toDay(written: string): string | undefined {
  const time = Date.parse(`${written}T00:00:00Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10);
}

const quarantineShape = {
  case: text.meta({ description: 'The id or title of the case.' }),
  owner: text.meta({ description: 'Who sees to it.' }),
  reason: text.meta({ description: 'Why it does not count for now.' }),
  expires: date.meta({ description: 'The last day on which it does not count, in UTC.', examples: ['2026-12-31'] }),
};

/** A mapping whose keys are models. */
function byModel<T extends z.ZodType>(value: T) {
  return z.record(text, value).superRefine((written, context) => {
    for (const name of Object.keys(written)) {
      if (modelPattern.test(name)) continue;
      const message = `${quoteValue(name)} is not a model; write \`provider/name\``;
      context.addIssue({ code: 'custom', path: [name], message, params: { code: 'bad-model', isKey: true } });
    }
  });
}

/** Far above any provider's price, and small enough that sums stay precise. */
const price = z.number().min(0).max(100_000);

const priceSchema = z
  .strictObject({
    input: price.meta({ description: 'For a million input tokens.' }),
    cachedInput: price
      .exactOptional()
      .meta({ description: 'For a million input tokens from the cache of the provider. Default: `input`.' }),
    output: price.meta({ description: 'For a million output tokens, reasoning included.' }),
  })
  .meta({ examples: [{ input: 1, cachedInput: 0.1, output: 5 }] });

const budgetsSchema = z
  .strictObject({
    tokens: z.int().min(0).exactOptional().meta({ description: 'Tokens of models, over all iterations.' }),
    modelCalls: z
      .int()
      .min(0)
      .exactOptional()
      .meta({ description: 'Calls of models, over all iterations. Recorded answers are none. Default: 300.' }),
    cost: z
      .number()
      .min(0)
      .max(1e9)
      .exactOptional()
      .meta({ description: 'Cost of the model calls, in the `currency` of the policy, by its `prices`.' }),
    wallTime: timeout
      .exactOptional()
      .meta({ description: 'Time of the run; when it is over, the run is cancelled.', examples: ['10m'] }),
    p95IterationTime: timeout
      .exactOptional()
      .meta({ description: 'What 95% of the iterations must not exceed.', examples: ['2s'] }),
    infrastructureErrors: z
      .int()
      .min(0)
      .exactOptional()
      .meta({ description: 'Iterations that may end without a result.' }),
  })
  .meta({ id: 'budgets', description: 'What one suite may spend at most.' });

/** Requirements that any suite may have. */
const commonShape = {
  minimumPassRate: passRate.exactOptional(),
  tags: z
    .record(text, passRate)
    .exactOptional()
    .meta({ description: 'Minimum pass rates of the cases with a tag, together.' }),
  models: byModel(passRate)
    .exactOptional()
    .meta({ description: 'Minimum pass rates of the cases with a model, together, by `provider/name`.' }),
  poolModels: z.boolean().exactOptional().meta({
    description:
      'Whether the models of a suite share one pass rate. By default each of several models must reach the minimum of the suite.',
  }),
  recordings: z
    .strictObject({ maximumAge: ageInDays.exactOptional() })
    .exactOptional()
    .meta({ description: 'Which recorded answers of models count.' }),
  judges: z
    .strictObject({
      minimumAgreement: z
        .number()
        .min(0)
        .max(1)
        .exactOptional()
        .meta({
          description: "What the lower bound of Cohen's kappa reaches at least, 0 to 1. Default: 0.6.",
          examples: [0.6],
        }),
      maximumAge: ageInDays
        .exactOptional()
        .meta({ description: 'Older calibrations count for nothing. Default: 90d.', examples: ['90d'] }),
    })
    .exactOptional()
    .meta({ description: 'Which calibration a judge that gates needs.' }),
  confidence: confidence.exactOptional(),
  confidenceOver: confidencePopulations.exactOptional().meta({
    description:
      'What the confidence is about: `cases`, these cases on repetition, or `tasks`, of which they are a sample. Default: `cases` with a range of `runs`, else `tasks`.',
  }),
  confidenceFamily: confidenceFamilies.exactOptional().meta({
    description:
      'What the error of failing is for: `minimum`, each by itself, or `gate`, all minimums of the gate together. Default: `minimum`.',
  }),
  onInconclusive: inconclusiveEffects.exactOptional().meta({
    description: 'What it means for the job when the results do not settle the verdict; it stays inconclusive.',
  }),
  onNothingRun: inconclusiveEffects.exactOptional().meta({
    description:
      'What it means for the job when nothing ran or results are missing, such as after a server that did not start.',
  }),
  reportOnly: z.boolean().exactOptional().meta({ description: 'A failed verdict is shown, and the job goes on.' }),
  onStaleQuarantine: staleEffects
    .exactOptional()
    .meta({ description: 'What it means when an entry has run out, or its case passes again or is gone.' }),
  retryFailed: retryRounds
    .exactOptional()
    .meta({ description: 'In how many further rounds, at most, cases that failed are run again.' }),
  flaky: flakyEffects
    .exactOptional()
    .meta({ description: 'How a case counts that passed only when it was run again: as failed, as passed, or not.' }),
  budgets: budgetsSchema.exactOptional(),
};

/** The policy of one suite, in its evals file or in a policy file. */
export const suitePolicySchema = z
  .strictObject({
    ...commonShape,
    cases: z
      .record(text, passRate)
      .exactOptional()
      .meta({ description: 'Minimum pass rates of single cases, by id or title.' }),
    required: z
      .array(text)
      .exactOptional()
      .meta({ description: 'Ids or titles of cases that must pass whatever the pass rate.' }),
    quarantine: z
      .array(z.strictObject(quarantineShape))
      .exactOptional()
      .meta({ description: 'Cases that do not count for the time being.' }),
  })
  .meta({ id: 'policy' });

const surfaceEffect = (description: string) => surfaceEffects.exactOptional().meta({ description });

const surfaceSchema = z
  .strictObject({
    breaking: surfaceEffect('Changes with which what worked may fail. Default: fail.'),
    review: surfaceEffect('Changes that a person has to decide, such as another description. Default: warn.'),
    additive: surfaceEffect('Changes that only allow more. Default: allow.'),
    cosmetic: surfaceEffect('Changes on which nothing depends. Default: allow.'),
    findings: surfaceEffect('What the lint finds, whether it is new or not. Default: warn.'),
    maximumBytes: z
      .int()
      .min(0)
      .max(1e9)
      .exactOptional()
      .meta({
        description: 'What a model may have to read of the tools: names, descriptions and input schemas, in bytes.',
        examples: [40_000],
      }),
  })
  .meta({ id: 'surface', description: 'What changes of the tool surface mean for the verdict.' });

const minimum = (description: string) => passRate.exactOptional().meta({ description, examples: ['80%'] });

const coverageSchema = z
  .strictObject({
    tools: minimum('Tools that a case calls.'),
    parameters: minimum('Parameters of tools that a call gives.'),
    values: minimum('Values of enums of parameters that a call gives.'),
    errors: minimum('Tools that answer with an error in a case that passes.'),
    prompts: minimum('Prompts that a case gets.'),
    resources: minimum('Resources that a case reads.'),
    templates: minimum('Resource templates that the URI of a resource fits.'),
  } satisfies Record<CoverageKind, unknown>)
  .meta({
    id: 'minimumCoverage',
    description: 'What the evals have to use of what the servers show, as shares.',
    examples: [{ tools: '100%', parameters: '80%' }],
  });

/** Rules of a policy file for the gate as a whole. */
const gateShape = {
  maximumRegressions: z
    .int()
    .min(0)
    .max(100_000)
    .exactOptional()
    .meta({ description: 'How many cases may regress against the `baseline`, over all suites. Default: 0.' }),
  maximumRateDrop: pointDrop.exactOptional(),
  prices: byModel(priceSchema)
    .exactOptional()
    .meta({ description: 'What models cost, by `provider/name`, for a million tokens. There are no built-in prices.' }),
  currency: z
    .string()
    .refine(
      (written) => /^[A-Z]{3}$/.test(written),
      withIssueCode(
        'bad-currency',
        (written) => `${quoteValue(written)} is not the code of a currency; write three capital letters, such as USD`,
      ),
    )
    .exactOptional()
    .meta({ pattern: '^[A-Z]{3}$', description: 'Of the `prices`, an ISO 4217 code. Default: USD.' }),
  probation: z.int().min(0).max(100).exactOptional().meta({
    description:
      'A case counts once it has passed in so many gates of `history-path` in a row. 0, the default, counts every case.',
  }),
  stopEarly: z
    .boolean()
    .exactOptional()
    .meta({ description: 'Cancel a run as soon as nothing outstanding can change its verdict. Default: false.' }),
  surface: surfaceSchema.exactOptional(),
  minimumCoverage: coverageSchema.exactOptional(),
};

/** A policy file: rules for the gate, for every suite and for single suites. */
export const policyFileSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  ...gateShape,
  ...commonShape,
  quarantine: z
    .array(z.strictObject({ suite: text.meta({ description: 'The id or name of the suite.' }), ...quarantineShape }))
    .exactOptional()
    .meta({ description: 'Cases that do not count for the time being.' }),
  suites: z
    .record(text, suitePolicySchema)
    .exactOptional()
    .meta({ description: 'What holds for single suites, by id or name; it goes before what holds for all.' }),
  protect: z.array(z.enum(protections)).exactOptional().meta({
    description:
      'What a pull request must not lower with `policy-ref: base`. Read from the base; everything unless given, and nothing with [].',
  }),
});

export type WrittenPolicy = z.output<typeof suitePolicySchema>;
export type WrittenGateRules = Pick<z.output<typeof policyFileSchema>, keyof typeof gateShape>;
/** A policy as a program writes it: the content of a policy file. */
export type PolicyInput = z.input<typeof policyFileSchema>;
