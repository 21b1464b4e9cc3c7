import type { SuiteRequirements } from '../../model/policy.ts';
import type { SuiteOutline } from '../../model/results.ts';
import type { Suite } from '../../model/suite.ts';
import type { NewRun } from '../../service/runs.ts';
import type { Dialect } from '../../suite/dialect.ts';

/** A suite that a backend can run, and what is known of it. */
export interface PreparedSuite {
  /** The backend's id of the suite. */
  suiteId: string;
  outline: SuiteOutline;
  /** What it is judged by; cases are named by their ids. */
  requirements: SuiteRequirements;
  /** From the backend's id of a case to the gate's; those of cases that the run itself creates are not there yet. */
  caseIds: ReadonlyMap<string, string>;
  /** What the request of a hosted run says beyond its suite. */
  run: NewRun;
  /** The cases that the run writes into the suite, in the order of its tests. */
  written: ReadonlyArray<{ id: string; title: string }>;
  /** What the gate judges itself of the cases, since the service does not know it; null where what runs them judges all of it. */
  judgedHere: { suite: Suite; dialect: Dialect } | null;
}

/**
 * Narrows a suite that has run once to some of its cases, under a name for messages; null where the service's ids of some of them are
 * not known. `runs` replaces how often each of them runs.
 */
export function selectPrepared(
  prepared: PreparedSuite,
  { ids, name, runs }: { ids: ReadonlySet<string>; name: string; runs?: number },
): PreparedSuite | null {
  const caseIds = [...prepared.caseIds].filter(([, id]) => ids.has(id));
  if (new Set(caseIds.map(([, id]) => id)).size < ids.size) return null;
  // The first run has written them; the service keeps them as they are to be run.
  const { tests: _tests, ...run } = prepared.run;
  const cases = prepared.outline.cases.filter(({ id }) => ids.has(id));
  return {
    ...prepared,
    outline: {
      ...prepared.outline,
      name,
      cases: runs === undefined ? cases : cases.map((item) => ({ ...item, runs })),
      leftOut: [],
    },
    run: {
      ...run,
      caseIds: caseIds.map(([id]) => id),
      ...(runs !== undefined && { iterationOverride: runs }),
    },
    written: [],
  };
}

/** By the gate's id of a case: the number in the gate of its first, second, … iteration in a run. */
export type IterationNumbers = ReadonlyMap<string, readonly number[]>;
