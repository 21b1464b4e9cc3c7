import type { PolicyInput } from '../../suite/policy-schema.ts';
import { baseChecks, baseOptions } from './base.ts';
import { baselineChecks, baselineOptions } from './baseline.ts';
import type { OptionValues } from './define-option.ts';
import { evalServiceChecks, evalServiceOptions } from './eval-service.ts';
import { githubOptions, reportOptions } from './report-to.ts';
import { serverChecks, serverOptions } from './server-under-test.ts';
import { createOptionTable } from './table.ts';
import { verdictOptions } from './verdict.ts';
import { whatRunsOptions } from './what-runs.ts';

const definitions = {
  ...whatRunsOptions,
  ...serverOptions,
  ...evalServiceOptions,
  ...verdictOptions,
  ...baselineOptions,
  ...baseOptions,
  ...reportOptions,
  ...githubOptions,
};

/**
 * Every option of the gate. The keys are those of `GateOptions`; in kebab-case, they are the action's inputs and the command's flags. Each
 * value is parsed from text.
 */
export const gateOptions = createOptionTable(definitions, {
  ...serverChecks,
  ...evalServiceChecks,
  ...baselineChecks,
  ...baseChecks,
});

/** The parsed options of the gate. Durations are in milliseconds, rates are fractions, and null means "not given". */
export interface GateOptions extends Omit<OptionValues<typeof definitions>, 'policy'> {
  /** The path of a policy file. A program may also pass the policy itself. */
  policy: string | PolicyInput | null;
}

/** The options that name files which are read before anything starts. */
export const fileOptions = createOptionTable({
  evals: definitions.evals,
  tests: definitions.tests,
  policy: definitions.policy,
  merge: definitions.merge,
  publish: definitions.publish,
});

/**
 * Returns the name that distinguishes a job from others with the same name, such as those of a matrix: its `comment-id`, which the runner
 * fills in for the action, or else its shard. Null if neither is given.
 */
export function nameJobSlot({ commentId, shard }: Pick<GateOptions, 'commentId' | 'shard'>): string | null {
  return commentId ?? (shard === null ? null : `${shard.index}/${shard.total}`);
}
