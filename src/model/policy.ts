/** A demand, and where it was made: an input, `file:line` or `default`. */
export interface Demanded<T> {
  value: T;
  source: string;
}

/** A requirement for a tag, or for a case: by its id or title as written, by its id alone once the plan has resolved it. */
export interface NamedDemand<T> extends Demanded<T> {
  name: string;
}

/** What an inconclusive verdict means for the job: it stops, it goes on, or it goes on with a warning. */
export type InconclusiveEffect = 'fail' | 'pass' | 'warn';

/** What a quarantine entry that should be gone means: a warning, or the suite's failure. */
export type StaleEffect = 'warn' | 'fail';

/**
 * How a case counts that failed at first and passed in full when it was run again: as it did at first, as passed, or not at
 * all.
 */
export type FlakyEffect = 'fail' | 'pass' | 'report';

/** More `runs` show how often a case passes; ever more rounds until one passes do not. */
export const maxRetries = 5;

/** A case whose results do not count for the time being. */
export interface QuarantineEntry {
  /** The id or title of the case as written; its id once the plan has resolved it. */
  case: string;
  owner: string;
  reason: string;
  /** The last day on which it holds, `YYYY-MM-DD` in UTC. */
  expires: string;
  source: string;
}

/** A case that does not count yet, since it has not passed in enough gates in a row. */
export interface TrialCase {
  /** The id of the case. */
  case: string;
  /** Of late, in a row. */
  passedGates: number;
  neededGates: number;
}

/** What may be spent at most on one suite; null where nothing is said. */
export interface Budgets {
  /** Of models, over all iterations. */
  tokens: Demanded<number> | null;
  /** From the creation of the run to its end, in milliseconds. */
  wallTimeMs: Demanded<number> | null;
  /** What 95 % of the iterations must not exceed, in milliseconds. */
  p95IterationMs: Demanded<number> | null;
  /** Iterations that may end without a result. */
  infrastructureErrors: Demanded<number> | null;
}

/** What one place says about a suite: an evals file, a policy file, the inputs. Rates are fractions 0..1. */
export interface PolicyLayer {
  minimumPassRate: Demanded<number> | null;
  /** Minimum pass rates of the cases with a tag, together. */
  tags: Array<NamedDemand<number>>;
  cases: Array<NamedDemand<number>>;
  required: Array<NamedDemand<true>>;
  /** A fraction: how sure it has to be that a minimum is met, or is not. */
  confidence: Demanded<number> | null;
  /** Where the results are complete and statistically open, or all cases are on probation. */
  onInconclusive: Demanded<InconclusiveEffect> | null;
  /** Where results are missing, because nothing ran or not everything did. */
  onNothingRun: Demanded<InconclusiveEffect> | null;
  reportOnly: Demanded<boolean> | null;
  quarantine: QuarantineEntry[];
  onStaleQuarantine: Demanded<StaleEffect> | null;
  /** In how many further rounds, at most, what failed is run again. */
  retryFailed: Demanded<number> | null;
  flaky: Demanded<FlakyEffect> | null;
  budgets: Budgets;
}

/** All requirements of a suite, with the defaults filled in. */
export interface SuiteRequirements extends PolicyLayer {
  minimumPassRate: Demanded<number>;
  onInconclusive: Demanded<InconclusiveEffect>;
  onNothingRun: Demanded<InconclusiveEffect>;
  reportOnly: Demanded<boolean>;
  onStaleQuarantine: Demanded<StaleEffect>;
  /** From the history. */
  trials: TrialCase[];
  retryFailed: Demanded<number>;
  flaky: Demanded<FlakyEffect>;
}

/** What a suite is judged by. */
export interface SuitePolicy {
  requirements: SuiteRequirements;
  /** The day in UTC, `YYYY-MM-DD`, against which entries of the quarantine expire. */
  today: string;
}

/** Those of a suite that a service keeps, before it is read: its own minimum counts where nothing here says another one. */
export type StoredRequirements = Omit<SuiteRequirements, 'minimumPassRate'> & Pick<PolicyLayer, 'minimumPassRate'>;

/** What a change must not lower where it is judged by the policy of its base. */
export const protections = ['requiredCases', 'suites', 'minima', 'quarantine', 'baselines'] as const;
export type Protection = (typeof protections)[number];

/** What a policy file says about the gate as a whole; null where it says nothing. */
export interface GateRules {
  /** How many cases may regress against the baseline, over all suites. */
  maximumRegressions: Demanded<number> | null;
  /** A fraction: how far the pass rate of a suite may fall against the baseline. */
  maximumRateDrop: Demanded<number> | null;
  /** In how many gates of the history a case must have passed before it counts. */
  probation: Demanded<number> | null;
  /** Whether a run is cancelled as soon as nothing outstanding can change its verdict. */
  stopEarly: Demanded<boolean> | null;
}

/** Where no policy file says anything about the gate. */
export const noGateRules: GateRules = {
  maximumRegressions: null,
  maximumRateDrop: null,
  probation: null,
  stopEarly: null,
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
  cases: [],
  required: [],
  confidence: null,
  onInconclusive: null,
  onNothingRun: null,
  reportOnly: null,
  quarantine: [],
  onStaleQuarantine: null,
  retryFailed: null,
  flaky: null,
  budgets: { tokens: null, wallTimeMs: null, p95IterationMs: null, infrastructureErrors: null },
};

/** Where nothing says how many iterations must pass, all of them must. */
export const defaultMinimum: Demanded<number> = { value: 1, source: 'default' };

/** Fills in the defaults. */
export function applyPolicyDefaults(layer: PolicyLayer): SuiteRequirements {
  return {
    ...layer,
    minimumPassRate: layer.minimumPassRate ?? defaultMinimum,
    trials: [],
    onInconclusive: layer.onInconclusive ?? { value: 'fail', source: 'default' },
    onNothingRun: layer.onNothingRun ?? { value: 'fail', source: 'default' },
    reportOnly: layer.reportOnly ?? { value: false, source: 'default' },
    onStaleQuarantine: layer.onStaleQuarantine ?? { value: 'warn', source: 'default' },
    retryFailed: layer.retryFailed ?? { value: 0, source: 'default' },
    flaky: layer.flaky ?? { value: 'fail', source: 'default' },
  };
}

/** Says in a sentence where a demand comes from: `the default`, or `from evals/x.evals.yaml:4`. */
export function describeSource(source: string): string {
  return source === 'default' ? 'the default' : `from ${source}`;
}
