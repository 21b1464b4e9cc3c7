import { z } from 'zod';
import { count } from './quantities.ts';
import { sourced, type Sourced } from './source.ts';
import type { SurfaceSeverity } from './surface-report.ts';

/** The effect of a kind of change, or of a finding, on the verdict: it fails, it warns, or it is only shown. */
export const surfaceEffects = z.enum(['fail', 'warn', 'allow']);
export type SurfaceEffect = z.infer<typeof surfaceEffects>;

const effect = sourced(surfaceEffects);

export const surfacePolicySchema = z.object({
  breaking: effect,
  review: effect,
  additive: effect,
  cosmetic: effect,
  findings: effect.describe('The effect of findings, new or not.'),
  maximumBytes: sourced(count)
    .nullable()
    .describe('The most bytes that the tools of a server may take of the context of a model.'),
});

/** The effects of surface changes on the verdict. */
export type SurfacePolicy = z.infer<typeof surfacePolicySchema>;

/** The surface rules of a policy file; null for a rule that it does not set. */
export type SurfaceRules = { [Rule in keyof SurfacePolicy]: SurfacePolicy[Rule] | null };

const defaults: Record<SurfaceSeverity | 'findings', SurfaceEffect> = {
  breaking: 'fail',
  review: 'warn',
  additive: 'allow',
  cosmetic: 'allow',
  findings: 'warn',
};

/** Fills in missing rules from an earlier policy, then from the defaults. */
export function applySurfaceDefaults(rules: SurfaceRules | null, earlier?: SurfacePolicy): SurfacePolicy {
  const fill = (key: keyof typeof defaults): Sourced<SurfaceEffect> =>
    rules?.[key] ?? earlier?.[key] ?? { value: defaults[key], source: 'default' };
  return {
    breaking: fill('breaking'),
    review: fill('review'),
    additive: fill('additive'),
    cosmetic: fill('cosmetic'),
    findings: fill('findings'),
    maximumBytes: rules?.maximumBytes ?? earlier?.maximumBytes ?? null,
  };
}
