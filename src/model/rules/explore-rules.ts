import { z } from 'zod';
import { text } from '../written-values.ts';
import { defineListRule, defineRule } from './define-rule.ts';

/** The effect of a finding of the explorer: it fails, it warns, or it is only shown. */
const findingEffects = z.enum(['fail', 'warn', 'allow']);

export const exploreSection = {
  name: 'explore',
  id: 'explore',
  description: 'What findings of `mcp-eval-ci explore` mean, and which are waived.',
  docs: '{ error: fail, warning: warn, note: allow } # the defaults; what findings of the explorer mean, see explore.md',
};

const defineEffect = <const Path extends string>(
  path: Path,
  byDefault: z.infer<typeof findingEffects>,
  description: string,
) => defineRule(path, { scope: 'gate', written: findingEffects, description, default: byDefault });

export const exploreRules = [
  defineEffect('explore.error', 'fail', 'Findings of severity `error`. Default: fail.'),
  defineEffect('explore.warning', 'warn', 'Findings of severity `warning`. Default: warn.'),
  defineEffect('explore.note', 'allow', 'Findings of severity `note`. Default: allow.'),
  defineListRule('explore.waivers', {
    scope: 'gate',
    written: z.array(
      z.strictObject({
        kind: text.meta({ description: 'The kind of the finding.', examples: ['read-only-lie'] }),
        tool: text
          .exactOptional()
          .meta({ description: 'The name of the tool; absent for a finding about the whole server.' }),
        reason: text.meta({ description: 'Why the finding is accepted.' }),
      }),
    ),
    description: 'Findings that are accepted, each with a reason.',
    examples: [[{ kind: 'read-only-lie', tool: 'search', reason: 'It only counts searches.' }]],
    item: z.object({ kind: z.string(), tool: z.string().nullable(), reason: z.string(), source: z.string() }),
    nameOf: ({ kind, tool }) => JSON.stringify([kind, tool]),
    build: (written, locate) =>
      written.map(({ kind, tool = null, reason }, index) => ({
        kind,
        tool,
        reason,
        source: locate([index], 'value'),
      })),
  }),
];
