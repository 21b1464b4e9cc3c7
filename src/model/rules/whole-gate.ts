import { z } from 'zod';
import { quoteValue } from '../../base/text.ts';
import { coverageKinds } from '../coverage-report.ts';
import { currencySchema, modelPriceSchema } from '../cost.ts';
import { count, fraction } from '../quantities.ts';
import { named } from '../source.ts';
import { byModel, passRate, percentage, withIssueCode } from '../written-values.ts';
import { defineListRule, defineRule } from './define-rule.ts';

/** Far above any provider's price, and small enough that sums stay precise. */
const price = z.number().min(0).max(100_000);

const writtenPrice = z
  .strictObject({
    input: price.meta({ description: 'For a million input tokens.' }),
    cachedInput: price
      .exactOptional()
      .meta({ description: 'For a million input tokens from the cache of the provider. Default: `input`.' }),
    cacheWrite: price
      .exactOptional()
      .meta({ description: 'For a million input tokens that the provider writes to its cache. Default: `input`.' }),
    output: price.meta({ description: 'For a million output tokens, reasoning included.' }),
  })
  .meta({ examples: [{ input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 }] });

/** The rules that reports keep, because the verdict depends on them. */
export const limitRules = [
  defineRule('maximumRegressions', {
    scope: 'gate',
    written: z.int().min(0).max(100_000),
    description: 'How many cases may regress against the `baseline`, over all suites. Default: 0.',
    value: count,
    reported: 'How many cases may regress, over all suites.',
    default: 0,
    docs: '0 # the default; cases that may regress against a baseline, over all suites',
  }),
  defineRule('maximumRateDrop', {
    scope: 'gate',
    written: percentage(['5%']),
    description: 'By how many percentage points the pass rate of a suite may fall against the `baseline`.',
    value: fraction,
    reported: 'By how much the pass rate of a suite may fall, 0 to 1.',
    default: null,
    docs: "5% # how far the pass rate of a suite may fall below the baseline's",
  }),
];
export type LimitRule = (typeof limitRules)[number];

export const pricingRules = [
  defineListRule('prices', {
    scope: 'gate',
    written: byModel(writtenPrice),
    description: 'What models cost, by `provider/name`, for a million tokens. There are no built-in prices.',
    item: named(modelPriceSchema),
    reported: 'Of models, for a million tokens.',
    nameOf: ({ name }) => name,
    build: (written, locate) =>
      Object.entries(written).map(([name, { cachedInput, ...price }]) => ({
        name,
        value: { ...price, cachedInput: cachedInput ?? price.input },
        source: locate([name], 'key'),
      })),
    docs: `# for a million tokens; there are no built-in prices
  anthropic/claude-haiku-4.5: { input: 1, cachedInput: 0.1, output: 5 } # without cachedInput, cached tokens cost as much as others`,
  }),
  defineRule('currency', {
    scope: 'gate',
    written: z
      .string()
      .refine(
        (written) => /^[A-Z]{3}$/.test(written),
        withIssueCode(
          'bad-currency',
          (written) => `${quoteValue(written)} is not the code of a currency; write three capital letters, such as USD`,
        ),
      )
      .meta({ pattern: '^[A-Z]{3}$' }),
    description: 'Of the `prices`, an ISO 4217 code. Default: USD.',
    value: currencySchema,
    reported: 'Of the prices.',
    default: 'USD',
    docs: 'USD # the default',
  }),
];
export type PricingRule = (typeof pricingRules)[number];

const minimum = (description: string) => passRate.exactOptional().meta({ description });

/** The rules about how the gate runs, which decide nothing about its results. */
export const runRules = [
  defineRule('probation', {
    scope: 'gate',
    written: z.int().min(0).max(100),
    description:
      'A case counts once it has passed in so many gates of `history-path` in a row. 0, the default, counts every case.',
    default: 0,
    docs: '0 # the default; gates in a row that a new case must pass before it counts',
  }),
  defineRule('stopEarly', {
    scope: 'gate',
    written: z.boolean(),
    description: 'Cancel a run as soon as nothing outstanding can change its verdict. Default: false.',
    default: false,
    docs: 'false # the default; true: a run ends when no iteration that is missing can change its verdict',
  }),
];

export const coverageRules = [
  defineListRule('minimumCoverage', {
    scope: 'gate',
    written: z
      .strictObject({
        tools: minimum('Tools that a case calls.'),
        parameters: minimum('Parameters of tools that a call gives.'),
        values: minimum('Values of enums of parameters that a call gives.'),
        errors: minimum('Tools that answer with an error in a case that passes.'),
        prompts: minimum('Prompts that a case gets.'),
        resources: minimum('Resources that a case reads.'),
        templates: minimum('Resource templates that the URI of a resource fits.'),
      })
      .meta({
        id: 'minimumCoverage',
        description: 'What the evals have to use of what the servers show, as shares.',
        examples: [{ tools: '100%', parameters: '80%' }],
      }),
    item: z.object({ name: z.enum(coverageKinds), value: fraction, source: z.string() }),
    nameOf: ({ name }) => name,
    build: (written, locate) =>
      coverageKinds.flatMap((name) => {
        const value = written[name];
        return value === undefined ? [] : [{ name, value, source: locate([name], 'key') }];
      }),
    docs: '{ tools: 100%, parameters: 80% } # what the evals have to use of the surface, see surface.md',
  }),
];
