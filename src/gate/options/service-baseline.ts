import type { GateOptions } from './schema.ts';

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
