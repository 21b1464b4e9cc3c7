import { coverageKinds } from '../model/coverage-report.ts';
import type { Sourced } from '../model/source.ts';
import { emptyPolicyLayer, type GateRules, type NamedRule, type PolicyLayer } from '../model/policy.ts';
import type { SurfaceRules } from '../model/surface-policy.ts';
import type { WrittenGateRules, WrittenPolicy } from './policy-schema.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

/** Turns the policy written at `path` of a document into a layer. Each requirement of it names its location. */
export function buildPolicyLayer(written: WrittenPolicy, document: SourceDocument, path: DocumentPath): PolicyLayer {
  const locate = (...inner: PropertyKey[]): string => locateText(document, [...path, ...inner]);
  const place = <T>(value: T | undefined, ...inner: PropertyKey[]): Sourced<T> | null =>
    value === undefined ? null : { value, source: locate(...inner) };
  const placeRates = (key: 'tags' | 'models' | 'cases'): Array<NamedRule<number>> =>
    Object.entries(written[key] ?? {}).map(([name, value]) => ({ name, value, source: locate(key, name) }));
  const budgets = written.budgets ?? {};
  return {
    ...emptyPolicyLayer,
    minimumPassRate: place(written.minimumPassRate, 'minimumPassRate'),
    tags: placeRates('tags'),
    models: placeRates('models'),
    poolModels: place(written.poolModels, 'poolModels'),
    cases: placeRates('cases'),
    required: (written.required ?? []).map((name, index) => ({
      name,
      value: true,
      source: locateText(document, [...path, 'required', index], 'locateValue'),
    })),
    confidence: place(written.confidence, 'confidence'),
    confidenceOver: place(written.confidenceOver, 'confidenceOver'),
    confidenceFamily: place(written.confidenceFamily, 'confidenceFamily'),
    onInconclusive: place(written.onInconclusive, 'onInconclusive'),
    onNothingRun: place(written.onNothingRun, 'onNothingRun'),
    reportOnly: place(written.reportOnly, 'reportOnly'),
    quarantine: (written.quarantine ?? []).map((entry, index) => ({
      ...entry,
      source: locateText(document, [...path, 'quarantine', index], 'locateValue'),
    })),
    onStaleQuarantine: place(written.onStaleQuarantine, 'onStaleQuarantine'),
    retryFailed: place(written.retryFailed, 'retryFailed'),
    flaky: place(written.flaky, 'flaky'),
    budgets: {
      tokens: place(budgets.tokens, 'budgets', 'tokens'),
      modelCalls: place(budgets.modelCalls, 'budgets', 'modelCalls'),
      cost: place(budgets.cost, 'budgets', 'cost'),
      wallTimeMs: place(budgets.wallTime, 'budgets', 'wallTime'),
      p95IterationMs: place(budgets.p95IterationTime, 'budgets', 'p95IterationTime'),
      infrastructureErrors: place(budgets.infrastructureErrors, 'budgets', 'infrastructureErrors'),
    },
    maximumRecordingAgeMs: place(written.recordings?.maximumAge, 'recordings', 'maximumAge'),
    minimumJudgeAgreement: place(written.judges?.minimumAgreement, 'judges', 'minimumAgreement'),
    maximumCalibrationAgeMs: place(written.judges?.maximumAge, 'judges', 'maximumAge'),
  };
}

/** Turns the gate rules of a policy file into rules that name their location. */
export function buildGateRules(written: WrittenGateRules, document: SourceDocument): GateRules {
  const place = <T>(key: keyof GateRules, value: T | undefined): Sourced<T> | null =>
    value === undefined ? null : { value, source: locateText(document, [key]) };
  return {
    maximumRegressions: place('maximumRegressions', written.maximumRegressions),
    maximumRateDrop: place('maximumRateDrop', written.maximumRateDrop),
    prices: Object.entries(written.prices ?? {}).map(([name, { cachedInput, ...price }]) => ({
      name,
      value: { ...price, cachedInput: cachedInput ?? price.input },
      source: locateText(document, ['prices', name]),
    })),
    currency: place('currency', written.currency),
    probation: place('probation', written.probation),
    stopEarly: place('stopEarly', written.stopEarly),
    surface: written.surface === undefined ? null : buildSurfaceRules(written.surface, document),
    minimumCoverage: coverageKinds.flatMap((name) => {
      const value = written.minimumCoverage?.[name];
      return value === undefined ? [] : [{ name, value, source: locateText(document, ['minimumCoverage', name]) }];
    }),
  };
}

function buildSurfaceRules(written: NonNullable<WrittenGateRules['surface']>, document: SourceDocument): SurfaceRules {
  const place = <T>(key: keyof SurfaceRules, value: T | undefined): Sourced<T> | null =>
    value === undefined ? null : { value, source: locateText(document, ['surface', key]) };
  return {
    breaking: place('breaking', written.breaking),
    review: place('review', written.review),
    additive: place('additive', written.additive),
    cosmetic: place('cosmetic', written.cosmetic),
    findings: place('findings', written.findings),
    maximumBytes: place('maximumBytes', written.maximumBytes),
  };
}

/** Formats a location as messages name it: `evals/x.evals.yaml:4`, or `policy.flaky` for a policy that a program passes. */
export function locateText(
  document: SourceDocument,
  path: DocumentPath,
  method: 'locateKey' | 'locateValue' = 'locateKey',
): string {
  const { file, line } = document[method](path);
  return line === 0 ? file : `${file}:${line}`;
}
