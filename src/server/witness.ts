import { type Clock, race } from '../base/time.ts';
import type { OutputLine, ProcessEnd, ProcessWitness, ServerVisit } from '../model/process-end.ts';
import type { ChildPool } from './bridge/child-pool.ts';
import type { SessionExits } from './bridge/session.ts';
import type { ProcessExit } from './process.ts';
import { lookForInput } from './spawn.ts';

/** Makes the witness of processes that serve one session each, by the ids of the sessions. */
export function witnessSessions(exits: Pick<SessionExits, 'find' | 'readOutput'>): ProcessWitness {
  return {
    isShared: false,
    visit: async () => ({
      findEnd: async (sessionId) => {
        const exit = sessionId === undefined ? null : exits.find(sessionId);
        return exit === null ? null : { end: toProcessEnd(exit), isOwn: true };
      },
      readOutput: async (sessionId) => {
        if (sessionId === undefined) return [];
        await lookForInput();
        return exits.readOutput(sessionId);
      },
      [Symbol.dispose]: () => {},
    }),
  };
}

/** Makes the witness of a process that all clients share, of which the next one starts on demand. */
export function witnessShared(visits: VisitRecord, pool: Pick<ChildPool, 'renew'>): ProcessWitness {
  return {
    isShared: true,
    visit: async ({ isAlone, isProbe = false }) => {
      if (isAlone && visits.isUsed) await pool.renew();
      return visits.visit({ isProbe });
    },
  };
}

export function toProcessEnd({ code, signal, lastLines, isClosed }: ProcessExit): ProcessEnd {
  return { exitCode: code, signal, lastLines, ...(isClosed && { isClosed }) };
}

/** The longest time between a broken connection and the end of the process that broke it. A later end has another cause. */
const maxExitDelayMs = 2000;

/** A process that iterations share. */
export interface SharedProcessRecord {
  /** Called if it ended by itself. */
  end(end: ProcessEnd): void;
}

/**
 * Records the iterations that a shared process served. Several processes may follow each other; an iteration that outlives one of them
 * belongs to the next one, too.
 */
export interface VisitRecord {
  /** Called for every process that starts. */
  begin(process: { readOutput(): readonly OutputLine[] }): SharedProcessRecord;
  /** True if the current process has served an iteration. */
  readonly isUsed: boolean;
  /** A probe is forgotten when it is over. */
  visit(options?: { isProbe: boolean }): ServerVisit;
}

interface ProcessRecord {
  readOutput: () => readonly OutputLine[];
  visitors: Set<Visitor>;
  end: ProcessEnd | null;
  ended: Promise<void>;
}

interface Visitor {
  processes: ProcessRecord[];
}

export function recordVisits(clock: Clock): VisitRecord {
  const present = new Set<Visitor>();
  let current: ProcessRecord | null = null;

  const add = (visitor: Visitor, record: ProcessRecord) => {
    visitor.processes.push(record);
    record.visitors.add(visitor);
  };
  return {
    begin: (process) => {
      const ended = Promise.withResolvers<void>();
      const readOutput = () => process.readOutput();
      const record: ProcessRecord = { readOutput, visitors: new Set(), end: null, ended: ended.promise };
      current = record;
      for (const visitor of present) add(visitor, record);
      return {
        end: (end) => {
          record.end = end;
          // The next process will serve an iteration that begins now.
          if (current === record) current = null;
          ended.resolve();
        },
      };
    },
    get isUsed() {
      return current !== null && current.visitors.size > 0;
    },
    visit: ({ isProbe } = { isProbe: false }) => {
      const visitor: Visitor = { processes: [] };
      const beganAtMs = clock.now();
      present.add(visitor);
      if (current !== null) add(visitor, current);
      return {
        findEnd: async (_sessionId, { mayBeEnding }) => {
          const find = () => visitor.processes.findLast(({ end }) => end !== null);
          const found = find() ?? (mayBeEnding ? await waitForEnd(visitor.processes, clock).then(find) : undefined);
          return found?.end == null ? null : { end: found.end, isOwn: found.visitors.size === 1 };
        },
        readOutput: async () => {
          await lookForInput();
          return visitor.processes.flatMap(({ readOutput }) => readOutput()).filter(({ atMs }) => atMs >= beganAtMs);
        },
        [Symbol.dispose]: () => {
          present.delete(visitor);
          if (isProbe) for (const { visitors } of visitor.processes) visitors.delete(visitor);
        },
      };
    },
  };
}

async function waitForEnd(processes: readonly ProcessRecord[], clock: Clock): Promise<void> {
  const end = Promise.race(processes.map(({ ended }) => ended));
  await race(end, { timeout: { clock, afterMs: maxExitDelayMs, onTimeout: () => {} } });
}
