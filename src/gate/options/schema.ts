import { z } from 'zod';
import type { PolicyInput } from '../../suite/policy-schema.ts';
import { baseOptions } from './base.ts';
import { baselineOptions, verdictOptions } from './verdict.ts';
import { evalServiceOptions } from './eval-service.ts';
import { githubOptions, reportOptions } from './report-to.ts';
import { serverOptions } from './server-under-test.ts';
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
  ...baseOptions,
  ...reportOptions,
  ...githubOptions,
});

/** The gate's options, parsed: durations in milliseconds, rates as fractions, null for "not given". */
export interface GateOptions extends Omit<z.output<typeof gateOptionsSchema>, 'policy'> {
  /** The path of a policy file; in a program, also the policy itself. */
  policy: string | PolicyInput | null;
}

/**
 * Names what distinguishes a job from others of the same name, such as those of its matrix: its `comment-id`, which the runner fills in for
 * the action, else its shard. Null where neither is given.
 */
export function nameJobSlot({ commentId, shard }: Pick<GateOptions, 'commentId' | 'shard'>): string | null {
  return commentId ?? (shard === null ? null : `${shard.index}/${shard.total}`);
}

/** A baseline that the service keeps: the newest completed run of a branch, or one run. */
export interface ServiceBaseline {
  /** Null where a run is named. */
  branch: string | null;
  runId: string | null;
}

/**
 * Reads whether the options name a run of the hosted service as the baseline: `run:` and its id; `branch:` and a name where
 * there is no history, in which that would be looked up. Null for every other baseline, and where nothing is run.
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
