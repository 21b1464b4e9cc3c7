import { z } from 'zod';
import { baselineSchema } from './comparison.ts';
import { count } from './quantities.ts';
import { type CompleteRules, createLayers, type Layer, type Layers } from './rules/layers.ts';
import { day } from './rules/quarantine.ts';
import { type GateRule, gateRules, ruleSections, type SuiteRule, suiteRules } from './rules/registry.ts';
import { type LimitRule, limitRules, type PricingRule, pricingRules } from './rules/whole-gate.ts';
import { reasonSchema } from './verdict.ts';

/** The layers of rules about a suite, and about the gate as a whole. */
export const suiteLayers: Layers<SuiteRule> = createLayers(suiteRules, ruleSections);
export const gateLayers: Layers<GateRule> = createLayers(gateRules, ruleSections);
const limitLayers: Layers<LimitRule> = createLayers(limitRules);
const pricingLayers: Layers<PricingRule> = createLayers(pricingRules);

/** The rules that one source sets for a suite: an evals file, a policy file, or the inputs. Null for a rule that it does not set. */
export type PolicyLayer = Layer<SuiteRule>;
export const emptyPolicyLayer: PolicyLayer = suiteLayers.empty;
export const mergeLayers: Layers<SuiteRule>['merge'] = suiteLayers.merge;
export const listLowered: Layers<SuiteRule>['listLowered'] = suiteLayers.listLowered;

export const probationSchema = z.object({
  case: z.string(),
  passedGates: count.describe('Of late, in a row.'),
  neededGates: count,
});

/** A case that does not count yet, because it has not passed in enough consecutive gates. */
export type ProbationCase = z.infer<typeof probationSchema>;

/** All requirements of a suite, with the defaults filled in. */
export interface SuiteRequirements extends CompleteRules<SuiteRule> {
  /** The cases on probation, from the history. */
  probation: ProbationCase[];
  /**
   * The number of minimums of the gate that share the error of failing. Computed when the gate runs and when it is judged; reports do not
   * store it.
   */
  sharedMinimums?: number;
}

/** A case whose results do not count until the entry expires. */
export type QuarantineEntry = SuiteRequirements['quarantine'][number];
export type Budgets = SuiteRequirements['budgets'];
export type InconclusiveEffect = SuiteRequirements['onInconclusive']['value'];
export type FlakyEffect = SuiteRequirements['flaky']['value'];

/**
 * The requirements of a suite that a service stores, before the gate has read it. The stored minimum of the suite applies unless one is set
 * here.
 */
export type StoredRequirements = Omit<SuiteRequirements, 'minimumPassRate'> & Pick<PolicyLayer, 'minimumPassRate'>;

/** Fills in the defaults of a suite's requirements. */
export function applyPolicyDefaults(layer: PolicyLayer): SuiteRequirements {
  return { ...suiteLayers.complete(layer), probation: [] };
}

/** What a verdict of a suite means for the job. */
export type JobEffects = Pick<SuiteRequirements, 'onInconclusive' | 'onNothingRun' | 'reportOnly'>;

/** Reads what a verdict means for the job from the rules for all suites. */
export function readJobEffects(layer: PolicyLayer): JobEffects {
  const { onInconclusive, onNothingRun, reportOnly } = applyPolicyDefaults(layer);
  return { onInconclusive, onNothingRun, reportOnly };
}

/** Requires all iterations to pass unless a minimum is set. */
export const defaultMinimum = suiteLayers.complete(emptyPolicyLayer).minimumPassRate;

/** The policy that a suite is judged by. */
export interface SuitePolicy {
  requirements: SuiteRequirements;
  /** The day in UTC, `YYYY-MM-DD`, on which the gate started. Decides which quarantine entries have expired. */
  today: string;
}

/** The rules of a policy file for the whole gate. Null or an empty list for a rule that it does not set. */
export type GateRules = Layer<GateRule>;

/** The rules of a gate that no policy file sets rules for. */
export const noGateRules: GateRules = gateLayers.empty;

/** The smallest share of the surface of the servers that the evals must cover, by kind. */
export type MinimumCoverage = GateRules['minimumCoverage'];

/** Fill in the rules that a policy file does not set: from an earlier policy if there is one, else from the defaults. */
export const applyLimitDefaults: Layers<LimitRule>['complete'] = limitLayers.complete;
export const applyPricingDefaults: Layers<PricingRule>['complete'] = pricingLayers.complete;

const { surface, behaviour, hosts, minimumCoverage } = gateLayers.reportShape;
const { onInconclusive, onNothingRun, reportOnly } = suiteLayers.reportShape;

export const gatePolicySchema = z.object({
  today: day.describe('The day on which the gate started, in UTC.'),
  suites: z.array(
    z.object({
      suiteId: z.string(),
      ...suiteLayers.reportShape,
      probation: z.array(probationSchema).describe('Cases on probation, from the history.'),
    }),
  ),
  ...limitLayers.reportShape,
  ...pricingLayers.reportShape,
  baseline: baselineSchema.nullable().describe('What the results are compared with; null where nothing is.'),
  lowered: z.array(reasonSchema).describe('Where the change lowers what its base protects.'),
  surface: surface
    .exactOptional()
    .describe('What changes of the tool surface mean; absent where the surface is not compared.'),
  behaviour: behaviour
    .exactOptional()
    .describe('What differences from the behaviour of the base mean; absent where the behaviour is not compared.'),
  hosts: hosts
    .exactOptional()
    .describe(
      'What it means that the server gets worse for the models of a host; absent where hosts are not compared.',
    ),
  acceptingLabel: z
    .string()
    .exactOptional()
    .describe('The label of the pull request that accepts every difference of behaviour; absent without it.'),
  withoutSuites: z
    .object({ onInconclusive, onNothingRun, reportOnly })
    .exactOptional()
    .describe('What the verdict means for the job if the gate has no suite, and so compares the base only.'),
  minimumCoverage: minimumCoverage
    .exactOptional()
    .describe('What the evals have to cover of the surface, 0 to 1; absent where nothing is required.'),
});

/** The complete policy of a gate. Together with the results, it decides the verdict. */
export type GatePolicy = z.infer<typeof gatePolicySchema>;

/** The prices of models and their currency. */
export type Pricing = CompleteRules<PricingRule>;

/** The rules that a change must not lower if the gate judges it by the policy of its base. */
export const protections = ['requiredCases', 'suites', 'minima', 'quarantine', 'baselines'] as const;
export type Protection = (typeof protections)[number];

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
