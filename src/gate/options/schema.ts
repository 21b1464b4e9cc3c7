import { z } from 'zod';
import type { PolicyInput } from '../../suite/policy-schema.ts';
import { baseOptions } from './base.ts';
import { baselineOptions, verdictOptions } from './verdict.ts';
import { evalServiceOptions } from './eval-service.ts';
import { githubOptions, reportOptions } from './report-to.ts';
import { serverOptions } from './server-under-test.ts';
import { whatRunsOptions } from './what-runs.ts';

/**
 * Every option of the gate. The keys are those of `GateOptions`; in kebab-case, they are the action's inputs and the command's flags. Each
 * value is parsed from text.
 */
export const gateOptionsSchema = z.object({
  ...whatRunsOptions,
  ...serverOptions,
  ...evalServiceOptions,
  ...verdictOptions,
  ...baselineOptions,
  ...baseOptions,
  ...reportOptions,
  ...githubOptions,
});

/** The parsed options of the gate. Durations are in milliseconds, rates are fractions, and null means "not given". */
export interface GateOptions extends Omit<z.output<typeof gateOptionsSchema>, 'policy'> {
  /** The path of a policy file. A program may also pass the policy itself. */
  policy: string | PolicyInput | null;
}

/**
 * Returns the name that distinguishes a job from others with the same name, such as those of a matrix: its `comment-id`, which the runner
 * fills in for the action, or else its shard. Null if neither is given.
 */
export function nameJobSlot({ commentId, shard }: Pick<GateOptions, 'commentId' | 'shard'>): string | null {
  return commentId ?? (shard === null ? null : `${shard.index}/${shard.total}`);
}

/** A baseline in the service: the newest completed run of a branch, or a given run. */
export interface ServiceBaseline {
  /** Null if a run is given. */
  branch: string | null;
  runId: string | null;
}

/**
 * Reads a baseline that is a run of the hosted service: `run:` and its id, or `branch:` and a name if there is no history to look it up in.
 * Null for any other baseline, and if nothing is run.
 */
export function readServiceBaseline({
  baseline,
  historyPath,
  service,
  merge,
}: Pick<GateOptions, 'baseline' | 'historyPath' | 'service' | 'merge'>): ServiceBaseline | null {
  const [, kind, name = ''] = /^(branch|run):(.+)$/.exec(baseline ?? '') ?? [];
  if (service === 'embedded' || merge.length > 0 || kind === undefined) return null;
  if (kind === 'run') return { branch: null, runId: name };
  return historyPath === null ? { branch: name, runId: null } : null;
}
