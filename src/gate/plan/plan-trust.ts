import type { HistoryRecord } from '../../model/history.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { listTrials } from '../../verdict/trust.ts';
import type { PlannedSuite } from './plan-suites.ts';

/** Sets the cases aside that the history does not show to be trusted yet. What a policy requires is never on trial. */
export function planTrust(
  suites: readonly PlannedSuite[],
  { neededGates, records }: { neededGates: number; records: readonly HistoryRecord[] },
): PlannedSuite[] {
  return suites.map((planned) => {
    if (planned.kind === 'stored') return planned;
    const { id: suiteId, cases } = outlineSuite(planned.suite, planned.whole);
    const required = new Set(planned.requirements.required.map(({ name }) => name));
    const trials = listTrials({ suiteId, cases: cases.filter(({ id }) => !required.has(id)) }, records, neededGates);
    return { ...planned, requirements: { ...planned.requirements, trials } };
  });
}
