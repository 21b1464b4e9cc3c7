import { z } from 'zod';
import type { BehaviourEffects } from '../behaviour.ts';
import { defineListRule, defineRule } from './define-rule.ts';

/** The effect of a kind of difference on the verdict: it fails, a person has to look, or it is only listed. */
const behaviourEffects = z.enum(['fail', 'review', 'ignore']);
type BehaviourEffect = BehaviourEffects['broken'];

export const behaviourSection = {
  name: 'behaviour',
  id: 'behaviour',
  description: 'What differences from the behaviour of the base mean for the verdict.',
  docs: '{ broken: fail, changed: review } # the defaults; what differences from the base mean, see behaviour.md',
};

const defineEffect = <const Path extends string>(path: Path, byDefault: BehaviourEffect, description: string) =>
  defineRule(path, {
    scope: 'gate',
    written: behaviourEffects,
    description,
    default: byDefault,
    strictness: { stricter: ['fail', 'review', 'ignore'] },
  });

export const behaviourRules = [
  defineEffect(
    'behaviour.broken',
    'fail',
    'Calls that worked, and are now refused, unanswered or invalid. Default: fail.',
  ),
  defineEffect(
    'behaviour.lost',
    'fail',
    'Answers that no longer show what an earlier call of the session made or removed. Default: fail.',
  ),
  defineEffect('behaviour.changed', 'review', 'Answers with another value or another error. Default: review.'),
  defineEffect('behaviour.slower', 'review', 'Tools that are at least 100 ms and twice as slow. Default: review.'),
  defineEffect(
    'behaviour.fixed',
    'review',
    'Calls that failed, and work now: a repair, or a check that is gone. Default: review.',
  ),
  defineListRule('behaviour.accept', {
    scope: 'gate',
    written: z.array(z.string().regex(/^[\w.-]+$/)),
    description: 'The ids of differences that are meant, as the reports show them.',
    item: z.object({ name: z.string(), source: z.string() }),
    nameOf: ({ name }) => name,
    build: (written, locate) => written.map((name, index) => ({ name, source: locate([index], 'value') })),
  }),
];
