import { z } from 'zod';
import { defineRule } from './define-rule.ts';

/** The effect of an inconclusive verdict on the job: it stops the job, lets it pass, or lets it pass with a warning. */
const inconclusiveEffects = z.enum(['fail', 'pass', 'warn']);
const strictness = { stricter: ['fail', 'warn', 'pass'] } as const;

export const jobEffectRules = [
  defineRule('onInconclusive', {
    written: inconclusiveEffects,
    description: 'What it means for the job when the results do not settle the verdict; it stays inconclusive.',
    reported: 'Where the results are complete and statistically open, or all cases are on probation.',
    default: 'fail',
    strictness,
    docs: 'fail # the default; or pass or warn, where the results do not settle the verdict',
  }),
  defineRule('onNothingRun', {
    written: inconclusiveEffects,
    description:
      'What it means for the job when nothing ran or results are missing, such as after a server that did not start.',
    reported: 'Where results are missing.',
    default: 'fail',
    strictness,
    docs: 'fail # the default; or pass or warn, where nothing ran or results are missing',
  }),
  defineRule('reportOnly', {
    written: z.boolean(),
    description: 'A failed verdict is shown, and the job goes on.',
    default: false,
    strictness: { stricter: 'smaller' },
    docs: 'false # the default; true: a failed verdict is shown, and the job goes on',
  }),
];
