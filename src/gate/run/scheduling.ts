import type { RunScheduling } from '../../embedded/schedule.ts';
import type { ConcurrencyReport, SuiteConcurrency } from '../../model/concurrency.ts';
import type { RunningServer, SessionPlan } from '../../server/running-server.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';

/** Server processes started ahead of their iterations. More would only compete for the few cores of a CI machine. */
const maxWarmProcesses = 4;

/** How runs of the service inside this process are scheduled, for the suites and the server of one job. */
export interface JobScheduling extends RunScheduling {
  /** Plans the sessions of this server, by the id of its record, whenever a suite runs on it. */
  addServer(serverId: string, server: PlannedServer): void;
  /** Says how the next run of a suite is scheduled, and on which servers. Suites run one after another. */
  setSuite(suiteId: string, suite: { concurrency: SuiteConcurrency; serverIds: readonly string[] }): void;
  /** How the iterations of a run were scheduled; null for a run that this service does not know. */
  getReport(runId: string): ConcurrencyReport | null;
}

type PlannedServer = Pick<RunningServer, 'report' | 'planSessions'>;

/** For a server that no suite is running on. */
const noSessions: SessionPlan = { count: 0, warmProcesses: 0, isExclusive: true };

export function createJobScheduling(): JobScheduling {
  const ofSuites = new Map<string, SuiteConcurrency>();
  const reports = new Map<string, ConcurrencyReport>();
  const servers = new Map<string, PlannedServer>();
  let current: PlannedServer[] = [];
  return {
    addServer: (serverId, server) => {
      servers.set(serverId, server);
    },
    setSuite: (suiteId, { concurrency, serverIds }) => {
      ofSuites.set(suiteId, concurrency);
      current = serverIds.flatMap((id) => servers.get(id) ?? []);
    },
    getReport: (runId) => reports.get(runId) ?? null,
    getConcurrency: (suiteId) => ({
      ...(ofSuites.get(suiteId) ?? { setting: 'auto', source: 'default', isIndependent: false }),
      hasOneProcess: current.some(({ report }) => report.isolation === 'one process for the run'),
    }),
    onScheduled: (runId, report) => {
      reports.set(runId, report);
    },
    onBatch: ({ sessions, limit }) => {
      const isExclusive = limit === 1;
      if (isExclusive) for (const [id, server] of servers) if (!sessions.has(id)) server.planSessions(noSessions);
      for (const [id, count] of sessions) {
        servers.get(id)?.planSessions({ count, warmProcesses: Math.min(limit, maxWarmProcesses), isExclusive });
      }
    },
  };
}

/** Until the first iteration, only the service connects to the server, to see whether it is there and what its tools declare. */
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
