import type { ProcessEnd, ProcessWitness } from '../model/process-end.ts';
import type { ChildPool } from './bridge/child-pool.ts';
import type { ProcessExit } from './process.ts';
import type { VisitRecord } from './visits.ts';

/** Speaks for processes that serve one session each, by the ids that the bridge gave the sessions. */
export function witnessSessions(findExit: (sessionId: string) => ProcessExit | null): ProcessWitness {
  return {
    visit: async () => ({
      findEnd: async (sessionId) => {
        const exit = sessionId === undefined ? null : findExit(sessionId);
        return exit === null ? null : { end: toProcessEnd(exit), isOwn: true };
      },
      [Symbol.dispose]: () => {},
    }),
  };
}

/** Speaks for the one process behind a bridge, which starts the next one when it is needed. */
export function witnessShared(visits: VisitRecord, pool: Pick<ChildPool, 'renew'>): ProcessWitness {
  return {
    visit: async ({ isAlone, isProbe = false }) => {
      if (isAlone && visits.isUsed) await pool.renew();
      return visits.visit({ isProbe });
    },
  };
}

export function toProcessEnd({ code, signal, lastLines }: ProcessExit): ProcessEnd {
  return { exitCode: code, signal, lastLines };
}
