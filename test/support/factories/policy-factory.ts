import {
  applyPolicyDefaults,
  emptyPolicyLayer,
  type PolicyLayer,
  type QuarantineEntry,
  type SuitePolicy,
} from '../../../src/model/policy.ts';
import type { Sourced } from '../../../src/model/source.ts';

/** A policy with a minimum of 90 % and only this layer, on the 21st of September 2026. */
export function createPolicy(layer: Partial<PolicyLayer> = {}): SuitePolicy {
  return {
    requirements: applyPolicyDefaults({ ...emptyPolicyLayer, ...atLeast(0.9), ...layer }),
    today: '2026-09-21',
  };
}

/** A minimum pass rate from the evals file of the suite. */
export function atLeast(value: number, source = 'evals/math.evals.yaml:4'): { minimumPassRate: Sourced<number> } {
  return { minimumPassRate: { value, source } };
}

export function createQuarantineEntry(overrides: Partial<QuarantineEntry> = {}): QuarantineEntry {
  return {
    case: 'adds',
    owner: '@alice',
    reason: 'The parser drops digits.',
    expires: '2026-10-01',
    source: 'policy.yaml:9',
    ...overrides,
  };
}

/** A requirement from the third line of `policy.yaml`. */
export function ofPolicy<T>(value: T): Sourced<T> {
  return { value, source: 'policy.yaml:3' };
}
