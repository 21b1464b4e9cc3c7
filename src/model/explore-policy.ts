import { exploreRules, exploreSection } from './rules/explore-rules.ts';
import { type CompleteRules, createLayers } from './rules/layers.ts';
import type { GateRules } from './policy.ts';

const layers = createLayers(exploreRules, [exploreSection]);

/** The effects of findings of the explorer, and the findings that are waived. */
export type ExplorePolicy = CompleteRules<(typeof exploreRules)[number]>['explore'];

/** Fills in the defaults of missing rules. */
export function applyExploreDefaults(rules: GateRules['explore'] | null): ExplorePolicy {
  return layers.complete(rules === null ? layers.empty : { explore: rules }).explore;
}
