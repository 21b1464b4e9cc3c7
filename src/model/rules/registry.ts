import { behaviourRules, behaviourSection } from './behaviour-rules.ts';
import { budgetRules, budgetSection } from './budget-rules.ts';
import { confidenceRules } from './confidence.ts';
import { flakyRules } from './flaky-cases.ts';
import { jobEffectRules } from './job-effects.ts';
import { hostRules, hostSection } from './host-rules.ts';
import { exploreRules, exploreSection } from './explore-rules.ts';
import type { RuleSection } from './layers.ts';
import { minimumRules } from './minimums.ts';
import { evidenceRules, evidenceSections } from './model-evidence.ts';
import { quarantineRules } from './quarantine.ts';
import { surfaceRules, surfaceSection } from './surface-rules.ts';
import { coverageRules, limitRules, pricingRules, runRules } from './whole-gate.ts';

/** The rules about one suite, in the order of reports. */
export const suiteRules = [
  ...minimumRules,
  ...confidenceRules,
  ...jobEffectRules,
  ...quarantineRules,
  ...flakyRules,
  ...budgetRules,
  ...evidenceRules,
];

export type SuiteRule = (typeof suiteRules)[number];

/** The rules about the gate as a whole. */
export const gateRules = [
  ...limitRules,
  ...pricingRules,
  ...runRules,
  ...surfaceRules,
  ...exploreRules,
  ...behaviourRules,
  ...hostRules,
  ...coverageRules,
];
export type GateRule = (typeof gateRules)[number];

export const ruleSections: readonly RuleSection[] = [
  ...evidenceSections,
  budgetSection,
  surfaceSection,
  exploreSection,
  behaviourSection,
  hostSection,
];
