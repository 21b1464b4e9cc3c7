import { type Demanded, emptyPolicyLayer, type NamedDemand, type PolicyLayer } from '../model/policy.ts';
import type { WrittenPolicy } from './policy-schema.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

/** Turns a written policy at `path` of a document into a layer whose every demand says where it stands. */
export function buildPolicyLayer(written: WrittenPolicy, document: SourceDocument, path: DocumentPath): PolicyLayer {
  const locate = (...inner: PropertyKey[]): string => locateText(document, [...path, ...inner]);
  const place = <T>(value: T | undefined, ...inner: PropertyKey[]): Demanded<T> | null =>
    value === undefined ? null : { value, source: locate(...inner) };
  const placeRates = (key: 'tags' | 'cases'): Array<NamedDemand<number>> =>
    Object.entries(written[key] ?? {}).map(([name, value]) => ({ name, value, source: locate(key, name) }));
  const budgets = written.budgets ?? {};
  return {
    ...emptyPolicyLayer,
    minimumPassRate: place(written.minimumPassRate, 'minimumPassRate'),
    tags: placeRates('tags'),
    cases: placeRates('cases'),
    required: (written.required ?? []).map((name, index) => ({
      name,
      value: true,
      source: locateText(document, [...path, 'required', index], 'locateValue'),
    })),
    confidence: place(written.confidence, 'confidence'),
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
      wallTimeMs: place(budgets.wallTime, 'budgets', 'wallTime'),
      p95IterationMs: place(budgets.p95IterationTime, 'budgets', 'p95IterationTime'),
      infrastructureErrors: place(budgets.infrastructureErrors, 'budgets', 'infrastructureErrors'),
    },
  };
}

/** A place as messages name it: `evals/x.evals.yaml:4`. */
export function locateText(
  document: SourceDocument,
  path: DocumentPath,
  method: 'locateKey' | 'locateValue' = 'locateKey',
): string {
  const { file, line } = document[method](path);
  return `${file}:${line}`;
}
