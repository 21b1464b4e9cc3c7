import { z } from 'zod';
import { baselineSchema } from './comparison.ts';
import { coverageKinds } from './coverage-report.ts';
import { currencySchema, defaultCurrency, type ModelPrice, modelPriceSchema } from './cost.ts';
import { count, fraction, milliseconds, money } from './quantities.ts';
import { confidenceFamilies, confidencePopulations } from './rounds.ts';
import { type Sourced, sourced } from './source.ts';
import { surfacePolicySchema, type SurfaceRules } from './surface-policy.ts';
import { reasonSchema } from './verdict.ts';

/** A rule for a tag, a model or a case. `name` is the id or title of a case as written; once the plan has resolved it, it is the id. */
function named<T extends z.ZodType>(value: T) {
  return z.object({ name: z.string(), value, source: z.string() });
}
export type NamedRule<T> = Sourced<T> & { name: string };

/** The effect of an inconclusive verdict on the job: it stops the job, lets it pass, or lets it pass with a warning. */
export const inconclusiveEffects = z.enum(['fail', 'pass', 'warn']);
export type InconclusiveEffect = z.infer<typeof inconclusiveEffects>;

/** The effect of a quarantine entry that is no longer needed: a warning, or a failure of the suite. */
export const staleEffects = z.enum(['warn', 'fail']);
export type StaleEffect = z.infer<typeof staleEffects>;

/** How a flaky case counts (it failed at first and passed in full in a later round): as failed, as passed, or not at all. */
export const flakyEffects = z.enum(['fail', 'pass', 'report']);
export type FlakyEffect = z.infer<typeof flakyEffects>;

/** The number of further rounds in which failed cases run again. More `runs` measure how often a case passes; more rounds do not. */
export const retryRounds = z.int().min(0).max(5);

/** A calendar day in UTC. Days compare as text. */
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);

export const quarantineEntrySchema = z.object({
  case: z.string(),
  owner: z.string(),
  reason: z.string(),
  expires: day.describe('The last day on which it holds, in UTC.'),
  source: z.string(),
});

/** A case whose results do not count until the entry expires. */
export type QuarantineEntry = z.infer<typeof quarantineEntrySchema>;

export const probationSchema = z.object({
  case: z.string(),
  passedGates: count.describe('Of late, in a row.'),
  neededGates: count,
});

/** A case that does not count yet, because it has not passed in enough consecutive gates. */
export type ProbationCase = z.infer<typeof probationSchema>;

const budgetsSchema = z
  .object({
    tokens: sourced(count).nullable().describe('Of models, over all iterations.'),
    modelCalls: sourced(count).nullable().describe('Calls of models, over all iterations; recorded answers are none.'),
    cost: sourced(money).nullable().describe('Of the model calls, by the prices of the policy.'),
    wallTimeMs: sourced(milliseconds).nullable().describe('From the creation of the run to its end.'),
    p95IterationMs: sourced(milliseconds).nullable().describe('What 95% of the iterations must not exceed.'),
    infrastructureErrors: sourced(count).nullable().describe('Iterations that may end without a result.'),
  })
  .describe('What may be spent at most; null where nothing is said.');
export type Budgets = z.infer<typeof budgetsSchema>;

const requirementsSchema = z.object({
  minimumPassRate: sourced(fraction),
  tags: z.array(named(fraction)).describe('Minimum pass rates of the cases with a tag, together.'),
  models: z.array(named(fraction)).describe('Minimum pass rates of the cases with a model, together.'),
  poolModels: sourced(z.boolean()).describe(
    'Whether the models of a suite share one rate; else the minimum of the suite is required of each, too.',
  ),
  cases: z.array(named(fraction)).describe('Minimum pass rates of single cases, by id.'),
  required: z.array(named(z.literal(true))).describe('Cases that the policy requires, by id.'),
  confidence: sourced(fraction).nullable().describe('How sure it has to be that a minimum is met, or is not.'),
  confidenceOver: sourced(confidencePopulations)
    .nullable()
    .default(null)
    .describe('Which population the confidence is about; null for `cases` with a range of `runs`, else `tasks`.'),
  confidenceFamily: sourced(confidenceFamilies)
    .nullable()
    .default(null)
    .describe('What the error of failing is for; null for `minimum`, each by itself.'),
  onInconclusive: sourced(inconclusiveEffects).describe(
    'Where the results are complete and statistically open, or all cases are on probation.',
  ),
  onNothingRun: sourced(inconclusiveEffects).describe('Where results are missing.'),
  reportOnly: sourced(z.boolean()),
  quarantine: z.array(quarantineEntrySchema),
  onStaleQuarantine: sourced(staleEffects),
  retryFailed: sourced(retryRounds),
  flaky: sourced(flakyEffects),
  budgets: budgetsSchema,
  maximumRecordingAgeMs: sourced(milliseconds).describe('Recordings of models that are older count as stale.'),
  minimumJudgeAgreement: sourced(fraction).describe("What Cohen's kappa of a judge that gates reaches at least."),
  maximumCalibrationAgeMs: sourced(milliseconds).describe('Calibrations of judges that are older count for nothing.'),
  probation: z.array(probationSchema).describe('Cases on probation, from the history.'),
});

/** All requirements of a suite, with the defaults filled in. */
export interface SuiteRequirements extends z.infer<typeof requirementsSchema> {
  /**
   * The number of minimums of the gate that share the error of failing. Computed when the gate runs and when it is judged; reports do not
   * store it.
   */
  sharedMinimums?: number;
}

/** The rules that one source sets for a suite: an evals file, a policy file, or the inputs. Null for a rule that it does not set. */
export type PolicyLayer = {
  [
    Rule in Exclude<keyof SuiteRequirements, 'probation' | 'sharedMinimums'>
  ]: SuiteRequirements[Rule] extends Sourced<unknown> ? SuiteRequirements[Rule] | null : SuiteRequirements[Rule];
};

/**
 * The requirements of a suite that a service stores, before the gate has read it. The stored minimum of the suite applies unless one is set
 * here.
 */
export type StoredRequirements = Omit<SuiteRequirements, 'minimumPassRate'> & Pick<PolicyLayer, 'minimumPassRate'>;

/** The policy that a suite is judged by. */
export interface SuitePolicy {
  requirements: SuiteRequirements;
  /** The day in UTC, `YYYY-MM-DD`, on which the gate started. Decides which quarantine entries have expired. */
  today: string;
}

/** The smallest share of the surface of the servers that the evals must cover, by kind. */
const minimumCoverageSchema = z.array(z.object({ name: z.enum(coverageKinds), value: fraction, source: z.string() }));
export type MinimumCoverage = z.infer<typeof minimumCoverageSchema>;

export const gatePolicySchema = z.object({
  today: day.describe('The day on which the gate started, in UTC.'),
  suites: z.array(z.object({ suiteId: z.string(), ...requirementsSchema.shape })),
  maximumRegressions: sourced(count).describe('How many cases may regress, over all suites.'),
  maximumRateDrop: sourced(fraction).nullable().describe('By how much the pass rate of a suite may fall, 0 to 1.'),
  prices: z.array(named(modelPriceSchema)).describe('Of models, for a million tokens.'),
  currency: sourced(currencySchema).describe('Of the prices.'),
  baseline: baselineSchema.nullable().describe('What the results are compared with; null where nothing is.'),
  lowered: z.array(reasonSchema).describe('Where the change lowers what its base protects.'),
  surface: surfacePolicySchema
    .exactOptional()
    .describe('What changes of the tool surface mean; absent where the surface is not compared.'),
  minimumCoverage: minimumCoverageSchema
    .exactOptional()
    .describe('What the evals have to cover of the surface, 0 to 1; absent where nothing is required.'),
});

/** The complete policy of a gate. Together with the results, it decides the verdict. */
export type GatePolicy = z.infer<typeof gatePolicySchema>;

/** The prices of models and their currency. */
export type Pricing = Pick<GatePolicy, 'prices' | 'currency'>;

/** The rules that a change must not lower if the gate judges it by the policy of its base. */
export const protections = ['requiredCases', 'suites', 'minima', 'quarantine', 'baselines'] as const;
export type Protection = (typeof protections)[number];

/** The rules of a policy file for the whole gate; null for a rule that it does not set. */
export interface GateRules {
  /** The largest number of cases that may regress against the baseline, over all suites. */
  maximumRegressions: Sourced<number> | null;
  /** The largest fall of a suite's pass rate against the baseline, as a fraction. */
  maximumRateDrop: Sourced<number> | null;
  /** The prices of models, by `provider/name`. */
  prices: Array<NamedRule<ModelPrice>>;
  /** An ISO 4217 code. */
  currency: Sourced<string> | null;
  /** The number of gates in the history that a case must have passed before it counts. */
  probation: Sourced<number> | null;
  /** True to cancel a run as soon as no outstanding iteration can change its verdict. */
  stopEarly: Sourced<boolean> | null;
  /** The effects of changes of the tool surface; null if the file sets none. */
  surface: SurfaceRules | null;
  /** The required coverage of the surface; empty if nothing is required. */
  minimumCoverage: MinimumCoverage;
}

/** The rules of a gate that no policy file sets rules for. */
export const noGateRules: GateRules = {
  maximumRegressions: null,
  maximumRateDrop: null,
  prices: [],
  currency: null,
  probation: null,
  stopEarly: null,
  surface: null,
  minimumCoverage: [],
};

/** The contents of a policy file: rules for the gate, for every suite, and for single suites by id or name. */
export interface PolicyFile {
  /** The name of the file in messages. */
  file: string;
  gate: GateRules;
  common: PolicyLayer;
  quarantine: Array<QuarantineEntry & { suite: string }>;
  suites: Array<{ name: string; layer: PolicyLayer }>;
  /** Applies only in the policy of the base; null protects all of them. */
  protect: readonly Protection[] | null;
}

export const emptyPolicyLayer: PolicyLayer = {
  minimumPassRate: null,
  tags: [],
  models: [],
  poolModels: null,
  cases: [],
  required: [],
  confidence: null,
  confidenceOver: null,
  confidenceFamily: null,
  onInconclusive: null,
  onNothingRun: null,
  reportOnly: null,
  quarantine: [],
  onStaleQuarantine: null,
  retryFailed: null,
  flaky: null,
  budgets: {
    tokens: null,
    modelCalls: null,
    cost: null,
    wallTimeMs: null,
    p95IterationMs: null,
    infrastructureErrors: null,
  },
  maximumRecordingAgeMs: null,
  minimumJudgeAgreement: null,
  maximumCalibrationAgeMs: null,
};

/** Requires all iterations to pass unless a minimum is set. */
export const defaultMinimum: Sourced<number> = { value: 1, source: 'default' };

/** Allows no case to regress unless a limit is set. */
export const defaultMaximumRegressions: Sourced<number> = { value: 0, source: 'default' };

/** Limits the cost of a mistake in a case. */
export const defaultModelCalls: Sourced<number> = { value: 300, source: 'default' };

/** One month; models and servers change in that time. */
export const defaultRecordingAge: Sourced<number> = { value: 30 * 24 * 3_600_000, source: 'default' };

/** Kappa values above this are called substantial agreement in the literature. */
export const defaultJudgeAgreement: Sourced<number> = { value: 0.6, source: 'default' };

/** Three months; a provider can change the model behind a name in that time. */
export const defaultCalibrationAge: Sourced<number> = { value: 90 * 24 * 3_600_000, source: 'default' };

/** Fills in the default currency. */
export function applyPricingDefaults({ prices, currency }: Pick<GateRules, 'prices' | 'currency'>): Pricing {
  return { prices, currency: currency ?? { value: defaultCurrency, source: 'default' } };
}

/** Fills in the defaults of a suite's requirements. */
export function applyPolicyDefaults(layer: PolicyLayer): SuiteRequirements {
  return {
    ...layer,
    minimumPassRate: layer.minimumPassRate ?? defaultMinimum,
    probation: [],
    onInconclusive: layer.onInconclusive ?? { value: 'fail', source: 'default' },
    onNothingRun: layer.onNothingRun ?? { value: 'fail', source: 'default' },
    reportOnly: layer.reportOnly ?? { value: false, source: 'default' },
    onStaleQuarantine: layer.onStaleQuarantine ?? { value: 'warn', source: 'default' },
    retryFailed: layer.retryFailed ?? { value: 0, source: 'default' },
    flaky: layer.flaky ?? { value: 'fail', source: 'default' },
    poolModels: layer.poolModels ?? { value: false, source: 'default' },
    budgets: { ...layer.budgets, modelCalls: layer.budgets.modelCalls ?? defaultModelCalls },
    maximumRecordingAgeMs: layer.maximumRecordingAgeMs ?? defaultRecordingAge,
    minimumJudgeAgreement: layer.minimumJudgeAgreement ?? defaultJudgeAgreement,
    maximumCalibrationAgeMs: layer.maximumCalibrationAgeMs ?? defaultCalibrationAge,
  };
}
