import { z } from 'zod';
import { sourceFrameSchema } from './source-frame.ts';

export const outcomeSchema = z
  .enum(['passed', 'failed', 'inconclusive'])
  .describe('`inconclusive` means that nothing was established; it is not a failure.');

/** The gate's verdict, after the policy is applied. `inconclusive` means that the gate could not decide; it is not a failure. */
export type VerdictOutcome = z.infer<typeof outcomeSchema>;

export const reasonSchema = z.object({
  code: z.enum([
    'minimum-met',
    'below-minimum',
    'minimum-unsettled',
    'tag-below-minimum',
    'model-below-minimum',
    'case-below-minimum',
    'required-failed',
    'first-failure',
    'regressed',
    'requirement-unjudged',
    'budget-exceeded',
    'quarantine-expired',
    'quarantine-stale',
    'suite-removed',
    'required-case-removed',
    'requirement-lowered',
    'quarantine-widened',
    'baseline-lowered',
    'surface-changed',
    'surface-too-large',
    'hosts-worse',
    'behaviour-kept',
    'behaviour-changed',
    'behaviour-unread',
    'base-not-compared',
    'surface-unread',
    'below-minimum-coverage',
    'coverage-unread',
    'run-not-completed',
    'run-not-created',
    'no-iterations',
    'only-probation',
    'iterations-missing',
    'results-unknown',
    'results-inconsistent',
    'server-lost',
    'sandbox-unavailable',
    'tunnel-lost',
    'deadline',
    'cancelled',
    'infrastructure',
  ]),
  message: z.string(),
  output: z
    .array(z.string())
    .exactOptional()
    .describe('The last lines that the server wrote, where the message is about its process.'),
  source: sourceFrameSchema
    .exactOptional()
    .describe('The line of the server that a stack trace in the output names; absent where none does.'),
  suiteId: z.string().exactOptional(),
  caseId: z.string().exactOptional(),
});

/** One reason for the verdict. */
export type VerdictReason = z.infer<typeof reasonSchema>;

/** Codes are stable; messages are not. `verdict/reason-rules.ts` maps each code to its effect on the verdict and the job. */
export type ReasonCode = VerdictReason['code'];

export const verdictSchema = z.object({
  outcome: outcomeSchema,
  reasons: z.array(reasonSchema).describe('Most decisive first. Codes are stable; messages are for people.'),
});
/** The decision about the change, with its reasons, the first of which decided. */
export type Verdict = z.infer<typeof verdictSchema>;
