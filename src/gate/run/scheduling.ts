import type { SessionPlan } from '../../server/running-server.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';

/** Server processes started ahead of their iterations. More would only compete for the few cores of a CI machine. */
export const maxWarmProcesses = 4;

/** For a server that no suite is running on. */
export const noSessions: SessionPlan = { count: 0, warmProcesses: 0, isExclusive: true };

/** Until the first iteration, only the backend connects to the server, to see whether it is there and what its tools declare. */
export function planFirstSessions(
  plan: Pick<GatePlan, 'suites' | 'service'>,
  { isOnlyServer }: { isOnlyServer: boolean },
): SessionPlan {
  const tunnelSessions = plan.service.isTunnelled ? 1 : 0;
  if (plan.service.hosted !== null || plan.suites.every(overlapsInAnyCase)) {
    const count = plan.suites.reduce((sum, planned) => sum + 1 + countIterations(planned), tunnelSessions);
    return { ...sessionsOfAnyClient, count };
  }
  // A process that waits for its suite would be next to the iterations of another one.
  return isOnlyServer ? { count: 1 + tunnelSessions, warmProcesses: 1, isExclusive: true } : noSessions;
}

/** What to expect where the service decides how many sessions are open at the same time. */
export const sessionsOfAnyClient: SessionPlan = { count: null, warmProcesses: maxWarmProcesses, isExclusive: false };

function overlapsInAnyCase(planned: PlannedSuite): boolean {
  if (planned.kind === 'stored') return true;
  const { setting, isIndependent } = planned.concurrency;
  return setting === 'auto' ? isIndependent : setting > 1;
}

/** How many iterations a suite of the service has is not known here; processes are started ahead for a few. */
function countIterations(planned: PlannedSuite): number {
  return planned.kind === 'file' ? planned.suite.cases.reduce((sum, { runs }) => sum + runs, 0) : maxWarmProcesses;
}
