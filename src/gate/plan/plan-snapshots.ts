import type { Findings } from '../../base/findings.ts';
import { loadSnapshots } from '../../suite/load-snapshots.ts';
import type { PlannedSuite } from './plan-suites.ts';

/** The snapshots that the plan found. */
export interface PlannedSnapshots {
  texts: ReadonlyMap<string, string>;
  /** The folder that each snapshot must stay inside, by its path. */
  folders: ReadonlyMap<string, string>;
  /** True if the results of the run become the snapshots. */
  isUpdating: boolean;
}

/** Reads the snapshots of the cases that run. If they are updated, none has to exist. */
export async function planSnapshots(
  {
    suites,
    cwd,
    updatesSnapshots: isUpdating = false,
  }: { suites: readonly PlannedSuite[]; cwd: string; updatesSnapshots?: boolean },
  findings: Findings,
): Promise<PlannedSnapshots | null> {
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite] : []));
  const { texts, folders, missing, issues } = await loadSnapshots(files, cwd);
  findings.addAll([...issues, ...(isUpdating ? [] : missing)]);
  if (folders.size > 0) return { texts, folders, isUpdating };
  if (isUpdating) findings.note('No case has `toMatchFile`, so `--update-snapshots` has no effect.');
  return null;
}
