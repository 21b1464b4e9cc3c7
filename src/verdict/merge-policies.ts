import type { Budgets, PolicyFile, PolicyLayer } from '../model/policy.ts';

/** The requirements that only one layer decides. */
type SingleRequirement =
  | 'minimumPassRate'
  | 'confidence'
  | 'confidenceOver'
  | 'confidenceFamily'
  | 'onInconclusive'
  | 'onNothingRun'
  | 'reportOnly'
  | 'onStaleQuarantine'
  | 'retryFailed'
  | 'poolModels'
  | 'maximumRecordingAgeMs'
  | 'minimumJudgeAgreement'
  | 'maximumCalibrationAgeMs'
  | 'flaky';

/**
 * Merges the layers of one suite's policy, the strongest first: a single requirement comes from the first layer that has it, requirements on
 * tags, models and cases from the first layer for each name, and required cases and quarantine entries add up.
 */
export function mergeLayers(layers: readonly PolicyLayer[]): PolicyLayer {
  const first = <K extends SingleRequirement>(key: K): PolicyLayer[K] | null =>
    layers.find((layer) => layer[key] !== null)?.[key] ?? null;
  const firstBudget = (key: keyof Budgets): Budgets[typeof key] =>
    layers.find(({ budgets }) => budgets[key] !== null)?.budgets[key] ?? null;
  return {
    minimumPassRate: first('minimumPassRate'),
    tags: firstOfEach(
      layers.flatMap(({ tags }) => tags),
      nameOf,
    ),
    models: firstOfEach(
      layers.flatMap(({ models }) => models),
      nameOf,
    ),
    poolModels: first('poolModels'),
    cases: firstOfEach(
      layers.flatMap(({ cases }) => cases),
      nameOf,
    ),
    required: firstOfEach(
      layers.flatMap(({ required }) => required),
      nameOf,
    ),
    confidence: first('confidence'),
    confidenceOver: first('confidenceOver'),
    confidenceFamily: first('confidenceFamily'),
    onInconclusive: first('onInconclusive'),
    onNothingRun: first('onNothingRun'),
    reportOnly: first('reportOnly'),
    quarantine: firstOfEach(
      layers.flatMap(({ quarantine }) => quarantine),
      (entry) => entry.case,
    ),
    onStaleQuarantine: first('onStaleQuarantine'),
    retryFailed: first('retryFailed'),
    flaky: first('flaky'),
    budgets: {
      tokens: firstBudget('tokens'),
      modelCalls: firstBudget('modelCalls'),
      cost: firstBudget('cost'),
      wallTimeMs: firstBudget('wallTimeMs'),
      p95IterationMs: firstBudget('p95IterationMs'),
      infrastructureErrors: firstBudget('infrastructureErrors'),
    },
    maximumRecordingAgeMs: first('maximumRecordingAgeMs'),
    minimumJudgeAgreement: first('minimumJudgeAgreement'),
    maximumCalibrationAgeMs: first('maximumCalibrationAgeMs'),
  };
}

/** Lists the layers of a policy file for a suite, by its id or name: first the layer for this suite, then the layer for all suites. */
export function listSuiteLayers(policy: PolicyFile, suite: { id: string; name: string }): PolicyLayer[] {
  const isMeant = (name: string) => name === suite.id || name === suite.name;
  const entries = policy.quarantine.filter((entry) => isMeant(entry.suite));
  return [
    ...policy.suites.filter(({ name }) => isMeant(name)).map(({ layer }) => layer),
    { ...policy.common, quarantine: entries.map(({ suite: _suite, ...entry }) => entry) },
  ];
}

/** Names the entries of a policy file that match none of these suites; they may be meant for another gate. */
export function listUnmatchedSuites(
  { file, ...policy }: PolicyFile,
  suites: ReadonlyArray<{ id: string; name: string }>,
): string[] {
  const names = new Set([...policy.suites.map(({ name }) => name), ...policy.quarantine.map(({ suite }) => suite)]);
  return [...names]
    .filter((name) => !suites.some((suite) => suite.id === name || suite.name === name))
    .map((name) => `${file} has a policy for the suite ${JSON.stringify(name)}, which is not part of this gate.`);
}

const nameOf = ({ name }: { name: string }) => name;

/** Keeps the first item of each name. */
export function firstOfEach<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const isFirst = !seen.has(nameOf(item));
    seen.add(nameOf(item));
    return isFirst;
  });
}
