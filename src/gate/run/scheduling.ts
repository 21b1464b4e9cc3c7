import type { SessionPlan } from '../../server/running-server.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { hasOwnProcesses } from '../plan/suite-workspaces.ts';

/** The most server processes that are started ahead of their iterations. More would only compete for the few cores of a CI machine. */
export const maxWarmProcesses = 4;

/** For a server that no suite uses at the moment. */
export const noSessions: SessionPlan = { count: 0, warmProcesses: 0, isExclusive: true };

/**
 * Plans the sessions until the first iteration. Only the backend connects to the server until then, to check that it answers and to read
 * what its tools declare.
 */
export function planFirstSessions(
  plan: Pick<GatePlan, 'suites' | 'service'>,
  { isOnlyServer }: { isOnlyServer: boolean },
): SessionPlan {
  const suites = plan.suites.filter((planned) => !hasOwnProcesses(planned));
  if (suites.length === 0) return noSessions;
  const tunnelSessions = plan.service.isTunnelled ? 1 : 0;
  if (plan.service.hosted !== null || suites.every(overlapsInAnyCase)) {
    const count = suites.reduce((sum, planned) => sum + 1 + countIterations(planned), tunnelSessions);
    return { ...sessionsOfAnyClient, count };
  }
  // A process that waits for its suite would run next to the iterations of another suite.
  return isOnlyServer ? { count: 1 + tunnelSessions, warmProcesses: 1, isExclusive: true } : noSessions;
}

/** For a service that decides itself how many sessions are open at the same time. */
export const sessionsOfAnyClient: SessionPlan = { count: null, warmProcesses: maxWarmProcesses, isExclusive: false };

function overlapsInAnyCase(planned: PlannedSuite): boolean {
  if (planned.kind === 'stored') return true;
  const { setting, isIndependent } = planned.concurrency;
  return setting === 'auto' ? isIndependent : setting > 1;
}

/** Counts iterations. The number in a suite of the service is not known here, so only a few processes are started ahead. */
function countIterations(planned: PlannedSuite): number {
  return planned.kind === 'file' ? planned.suite.cases.reduce((sum, { runs }) => sum + runs, 0) : maxWarmProcesses;
}
