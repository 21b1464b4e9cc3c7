import { defaultMinimum, type SuiteRequirements } from '../../model/policy.ts';
import type { SuiteOutline, SuiteResults } from '../../model/results.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { createTally, type SuiteEnd, type Tally } from '../../verdict/tally.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';

/** The end of a suite if nothing of it was run. */
export const nothingRun: SuiteEnd = {
  run: null,
  runUrl: null,
  isComplete: false,
  tunnelBreaks: 0,
  interruption: null,
};

/** Describes a suite for the report if nothing of it was run. */
export function describeUnrun(
  planned: PlannedSuite,
  interruption: VerdictReason | null,
): { results: SuiteResults; requirements: SuiteRequirements } {
  const results = createPlannedTally(planned).finish({ ...nothingRun, interruption });
  return { results, requirements: fillMinimum(planned) };
}

/** Fills in the minimum of a suite that the service keeps: it is unknown until the suite has been read. */
export function fillMinimum({ requirements }: PlannedSuite): SuiteRequirements {
  return { ...requirements, minimumPassRate: requirements.minimumPassRate ?? defaultMinimum };
}

/** Opens the tally of a suite before the service knows its cases. */
export function createPlannedTally(planned: PlannedSuite): Tally {
  return createTally(outlinePlanned(planned), { caseIds: new Map() });
}

function outlinePlanned(planned: PlannedSuite): SuiteOutline {
  if (planned.kind === 'file') return outlineSuite(planned.suite, planned.whole);
  return { id: planned.suite, name: planned.suite, file: null, cases: [], leftOut: [] };
}
