import { z } from 'zod';
import { baselineSchema } from './comparison.ts';
import { coverageKinds } from './coverage-report.ts';
import { currencySchema, defaultCurrency, type ModelPrice, modelPriceSchema } from './cost.ts';
import { count, fraction, milliseconds, money } from './quantities.ts';
import { confidenceFamilies, confidencePopulations } from './rounds.ts';
import { type Sourced, sourced } from './source.ts';
import { surfacePolicySchema, type SurfaceRules } from './surface-policy.ts';
import { reasonSchema } from './verdict.ts';

/** A rule on a tag, a model or a case: a case by its id or title as written, by its id alone once the plan has resolved it. */
function named<T extends z.ZodType>(value: T) {
  return z.object({ name: z.string(), value, source: z.string() });
}
export type NamedRule<T> = Sourced<T> & { name: string };

/** What an inconclusive verdict means for the job: it stops, it goes on, or it goes on with a warning. */
export const inconclusiveEffects = z.enum(['fail', 'pass', 'warn']);
export type InconclusiveEffect = z.infer<typeof inconclusiveEffects>;

/** What a quarantine entry that should be gone means: a warning, or the suite's failure. */
export const staleEffects = z.enum(['warn', 'fail']);
export type StaleEffect = z.infer<typeof staleEffects>;

/**
 * How a case counts that failed at first and passed in full when it was run again: as it did at first, as passed, or not at
 * all.
 */
export const flakyEffects = z.enum(['fail', 'pass', 'report']);
export type FlakyEffect = z.infer<typeof flakyEffects>;

/** In how many further rounds cases that failed run again. More `runs` show how often a case passes; more rounds do not. */
export const retryRounds = z.int().min(0).max(5);

/** A day of the calendar in UTC. Days compare as text. */
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);

export const quarantineEntrySchema = z.object({
  case: z.string(),
  owner: z.string(),
  reason: z.string(),
  expires: day.describe('The last day on which it holds, in UTC.'),
  source: z.string(),
});

/** A case whose results do not count for the time being. */
export type QuarantineEntry = z.infer<typeof quarantineEntrySchema>;

export const probationSchema = z.object({
  case: z.string(),
  passedGates: count.describe('Of late, in a row.'),
  neededGates: count,
});

/** A case that does not count yet, since it has not passed in enough gates in a row. */
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
  /** How many minimums of the gate share the error of failing: counted when the gate runs and when it is judged, and in no report. */
  sharedMinimums?: number;
}

/** What one place says about a suite: an evals file, a policy file, the inputs. Null for a rule that it does not name. */
export type PolicyLayer = {
  [
    Rule in Exclude<keyof SuiteRequirements, 'probation' | 'sharedMinimums'>
  ]: SuiteRequirements[Rule] extends Sourced<unknown> ? SuiteRequirements[Rule] | null : SuiteRequirements[Rule];
};

/** Those of a suite that a service keeps, before it is read: its own minimum counts where nothing here says another one. */
export type StoredRequirements = Omit<SuiteRequirements, 'minimumPassRate'> & Pick<PolicyLayer, 'minimumPassRate'>;

/** What a suite is judged by. */
export interface SuitePolicy {
  requirements: SuiteRequirements;
  /** The day in UTC, `YYYY-MM-DD`, against which entries of the quarantine expire. */
  today: string;
}

/** Minimum shares of the surface of the servers that the evals cover, by kind. */
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

/** Everything that a gate is judged by. With the results, it decides the verdict. */
export type GatePolicy = z.infer<typeof gatePolicySchema>;

/** What model calls cost. */
export type Pricing = Pick<GatePolicy, 'prices' | 'currency'>;

/** What a change must not lower where it is judged by the policy of its base. */
export const protections = ['requiredCases', 'suites', 'minima', 'quarantine', 'baselines'] as const;
export type Protection = (typeof protections)[number];

/** What a policy file says about the gate as a whole; null where it says nothing. */
export interface GateRules {
  /** How many cases may regress against the baseline, over all suites. */
  maximumRegressions: Sourced<number> | null;
  /** A fraction: how far the pass rate of a suite may fall against the baseline. */
  maximumRateDrop: Sourced<number> | null;
  /** What models cost, by `provider/name`. */
  prices: Array<NamedRule<ModelPrice>>;
  /** A code of ISO 4217. */
  currency: Sourced<string> | null;
  /** In how many gates of the history a case must have passed before it counts. */
  probation: Sourced<number> | null;
  /** Whether a run is cancelled as soon as nothing outstanding can change its verdict. */
  stopEarly: Sourced<boolean> | null;
  /** What changes of the tool surface mean; null where the file says nothing. */
  surface: SurfaceRules | null;
  /** What the evals have to cover of the surface; empty where nothing is required. */
  minimumCoverage: MinimumCoverage;
}

/** Where no policy file says anything about the gate. */
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

/** What a policy file says: about the gate, about every suite, and about single ones by id or name. */
export interface PolicyFile {
  /** As messages call it. */
  file: string;
  gate: GateRules;
  common: PolicyLayer;
  quarantine: Array<QuarantineEntry & { suite: string }>;
  suites: Array<{ name: string; layer: PolicyLayer }>;
  /** Counts only in the policy of the base; null for all of them. */
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

/** Where nothing says how many iterations must pass, all of them must. */
export const defaultMinimum: Sourced<number> = { value: 1, source: 'default' };

/** Without a rule, no case may regress. */
export const defaultMaximumRegressions: Sourced<number> = { value: 0, source: 'default' };

/** So that a mistake in a case costs no fortune. */
export const defaultModelCalls: Sourced<number> = { value: 300, source: 'default' };

/** A month: models and servers have moved on by then. */
export const defaultRecordingAge: Sourced<number> = { value: 30 * 24 * 3_600_000, source: 'default' };

/** Agreement with people that the literature calls substantial. */
export const defaultJudgeAgreement: Sourced<number> = { value: 0.6, source: 'default' };

/** Three months: a provider may change what is behind the name of a model. */
export const defaultCalibrationAge: Sourced<number> = { value: 90 * 24 * 3_600_000, source: 'default' };

/** Fills in the defaults of what models cost. */
export function applyPricingDefaults({ prices, currency }: Pick<GateRules, 'prices' | 'currency'>): Pricing {
  return { prices, currency: currency ?? { value: defaultCurrency, source: 'default' } };
}

/** Fills in the defaults. */
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
