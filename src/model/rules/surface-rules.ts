import { z } from 'zod';
import { count } from '../quantities.ts';
import { defineRule } from './define-rule.ts';

/** The effect of a kind of change, or of a finding, on the verdict: it fails, it warns, or it is only shown. */
const surfaceEffects = z.enum(['fail', 'warn', 'allow']);
type SurfaceEffect = z.infer<typeof surfaceEffects>;

export const surfaceSection = {
  name: 'surface',
  id: 'surface',
  description: 'What changes of the tool surface mean for the verdict.',
  docs: '{ breaking: fail, review: warn } # the defaults; what changes of the tool surface mean, see surface.md',
};

const defineEffect = <const Path extends string>(path: Path, byDefault: SurfaceEffect, description: string) =>
  defineRule(path, { scope: 'gate', written: surfaceEffects, description, default: byDefault });

export const surfaceRules = [
  defineEffect('surface.breaking', 'fail', 'Changes with which what worked may fail. Default: fail.'),
  defineEffect(
    'surface.review',
    'warn',
    'Changes that a person has to decide, such as another description. Default: warn.',
  ),
  defineEffect('surface.additive', 'allow', 'Changes that only allow more. Default: allow.'),
  defineEffect('surface.cosmetic', 'allow', 'Changes on which nothing depends. Default: allow.'),
  defineRule('surface.findings', {
    scope: 'gate',
    written: surfaceEffects,
    description: 'What the lint finds, whether it is new or not. Default: warn.',
    reported: 'What findings mean, whether they are new or not.',
    default: 'warn',
  }),
  defineRule('surface.maximumBytes', {
    scope: 'gate',
    written: z.int().min(0).max(1e9),
    description: 'What a model may have to read of the tools: names, descriptions and input schemas, in bytes.',
    examples: [40_000],
    value: count,
    reported: 'What the tools of a server may take of the context of a model.',
    default: null,
  }),
];
