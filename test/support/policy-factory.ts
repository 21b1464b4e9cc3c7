import {
  emptyPolicyLayer,
  type Demanded,
  type PolicyLayer,
  type QuarantineEntry,
  settleDemands,
} from '../../src/model/policy.ts';
import type { JudgeOptions } from '../../src/verdict/judge.ts';

/** A policy that demands nothing but this, on the 21st of September 2026. */
export function createPolicy(layer: Partial<PolicyLayer> = {}): NonNullable<JudgeOptions['policy']> {
  return { demands: settleDemands({ ...emptyPolicyLayer, ...layer }), today: '2026-09-21' };
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

/** A demand that `policy.yaml` makes in its third line. */
export function demanded<T>(value: T): Demanded<T> {
  return { value, source: 'policy.yaml:3' };
}
