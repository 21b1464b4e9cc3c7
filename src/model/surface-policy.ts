import { type CompleteRules, createLayers } from './rules/layers.ts';
import { surfaceRules, surfaceSection } from './rules/surface-rules.ts';
import type { GateRules } from './policy.ts';

const layers = createLayers(surfaceRules, [surfaceSection]);

/** The effects of surface changes on the verdict. */
export type SurfacePolicy = CompleteRules<(typeof surfaceRules)[number]>['surface'];

/** Fills in missing rules from an earlier policy, then from the defaults. */
export function applySurfaceDefaults(rules: GateRules['surface'] | null, earlier?: SurfacePolicy): SurfacePolicy {
  const layer = rules === null ? layers.empty : { surface: rules };
  return layers.complete(layer, earlier && { surface: earlier }).surface;
}
