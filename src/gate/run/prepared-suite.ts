import type { SuiteRequirements } from '../../model/policy.ts';
import type { SuiteOutline } from '../../model/results.ts';
import type { Suite } from '../../cases/suite.ts';
import type { NewRun } from '../../service/run-client.ts';
import type { Dialect } from '../../suite/dialect.ts';

/** A suite that a backend can run. */
export interface PreparedSuite {
  /** The backend's id of the suite. */
  suiteId: string;
  outline: SuiteOutline;
  /** The requirements that it is judged by; they name cases by their ids. */
  requirements: SuiteRequirements;
  /** Maps the backend's ids of cases to the gate's; lacks the cases that the run itself creates. */
  caseIds: ReadonlyMap<string, string>;
  /** The fields of a hosted run's request other than the suite. */
  run: NewRun;
  /** The cases that the run writes into the suite, in the order of its tests. */
  written: ReadonlyArray<{ id: string; title: string }>;
  /** The cases that the gate judges in part itself, since the service does not know all assertions; null if the backend judges everything. */
  judgedHere: { suite: Suite; dialect: Dialect } | null;
}

/**
 * Narrows a suite that has run once to some of its cases, under a name for messages; null if the service's id of one of them is not known.
 * `runs` replaces the number of iterations of each case.
 */
export function selectPrepared(
  prepared: PreparedSuite,
  { ids, name, runs }: { ids: ReadonlySet<string>; name: string; runs?: number },
): PreparedSuite | null {
  const caseIds = [...prepared.caseIds].filter(([, id]) => ids.has(id));
  if (new Set(caseIds.map(([, id]) => id)).size < ids.size) return null;
  // The first run has written the cases; the service keeps them unchanged.
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

/** The numbers within the gate of a run's first, second, … iteration, by the gate's id of the case. */
export type IterationNumbers = ReadonlyMap<string, readonly number[]>;
