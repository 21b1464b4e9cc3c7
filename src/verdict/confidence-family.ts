import type { SuiteRequirements } from '../model/policy.ts';
import { type ErrorRates, splitConfidence } from './statistics/errors.ts';

/** Reads how often a decision about a minimum of a suite may be wrong; without a confidence, the result is not used. */
export function readErrors({
  confidence,
  confidenceFamily,
  sharedMinimums = 1,
}: Pick<SuiteRequirements, 'confidence' | 'confidenceFamily' | 'sharedMinimums'>): ErrorRates {
  return splitConfidence(confidence?.value ?? 0, confidenceFamily?.value === 'gate' ? sharedMinimums : 1);
}

/** Notes in a finding that minimums share the error of failing; empty if they do not. */
export function describeFamily({ passing, failing }: ErrorRates): string {
  const minimums = Math.round(passing / failing);
  return minimums === 1 ? '' : ` (the error of failing is shared by ${minimums} minimums)`;
}
