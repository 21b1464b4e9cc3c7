import { z } from 'zod';
import type { PolicyInput } from '../../suite/policy-schema.ts';
import { baselineOptions } from './baseline.ts';
import { evalServiceOptions } from './eval-service.ts';
import { githubOptions } from './github.ts';
import { reportOptions } from './reports.ts';
import { serverOptions } from './server-under-test.ts';
import { verdictOptions } from './verdict.ts';
import { whatRunsOptions } from './what-runs.ts';

/**
 * Every option of the gate: the keys are those of `GateOptions`, and the same words in kebab-case are the action's inputs
 * and the command's flags. Each value is read from text, on every surface.
 */
export const gateOptionsSchema = z.object({
  ...whatRunsOptions,
  ...serverOptions,
  ...evalServiceOptions,
  ...verdictOptions,
  ...baselineOptions,
  ...reportOptions,
  ...githubOptions,
});

/** The gate's options, parsed: durations in milliseconds, rates as fractions, null for "not given". */
export interface GateOptions extends Omit<z.output<typeof gateOptionsSchema>, 'policy'> {
  /** The path of a policy file; in a program, also the policy itself. */
  policy: string | PolicyInput | null;
}
