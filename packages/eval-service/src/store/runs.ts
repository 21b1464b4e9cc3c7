import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { TerminalStatus } from '../../../../src/runner/runner.ts';
import { createRowReader, jsonColumn } from './schema.ts';

const select = `
  select id, project_id as projectId, suite_id as suiteId, run_number as runNumber, status, result,
    minimum_pass_rate as minimumPassRate, notes, failure, total, passed, failed, created_at as createdAt,
    completed_at as completedAt, source, external_id as externalId, evaluation_config_hash as evaluationConfigHash,
    group_id as groupId, score_integrity as scoreIntegrity, environment`;

/** The environment of a run, as it was then. */
export interface RunEnvironment {
  id: string;
  name: string;
  revision: number;
}

const runRow = z.object({
  id: z.string(),
  projectId: z.string(),
  suiteId: z.string(),
  runNumber: z.number(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled', 'timed_out']),
  result: z.enum(['passed', 'failed']).nullable(),
  /** Percent. */
  minimumPassRate: z.number(),
  notes: z.string().nullable(),
  failure: z.string().nullable(),
  total: z.number(),
  passed: z.number(),
  failed: z.number(),
  createdAt: z.number(),
  completedAt: z.number().nullable(),
  /** `sdk`: executed elsewhere, and ingested. */
  source: z.enum(['api', 'sdk', 'schedule']),
  /** What the sender of an ingested run calls it; unique in the project. */
  externalId: z.string().nullable(),
  /** Of what iterations are judged by. */
  evaluationConfigHash: z.string().nullable(),
  groupId: z.string().nullable(),
  /** Of an ingested run that has ended: whether all its scores could be read. Null where there are none. */
  scoreIntegrity: z.enum(['valid', 'invalid']).nullable(),
  environment: jsonColumn<RunEnvironment>().nullable(),
});
export type RunRecord = z.infer<typeof runRow>;
const runRows = createRowReader(runRow);

export interface NewRun {
  id: string;
  projectId: string;
  suiteId: string;
  /** Percent. */
  minimumPassRate: number;
  notes: string | null;
  /** Planned iterations, all of them. */
  total: number;
  now: number;
  evaluationConfigHash: string | null;
  groupId?: string | undefined;
  /** Who asked for it; `api` unless given. */
  source?: 'api' | 'schedule';
  environment?: RunEnvironment | null;
  /** Of a run that was executed elsewhere: what its sender calls it. */
  externalId?: string;
}

export interface RunEnd {
  status: TerminalStatus;
  /** Null for every status but `completed`. */
  result: 'passed' | 'failed' | null;
  /** Why there is no result, one sentence; null where there is one, or where the client asked to stop. */
  failure: string | null;
  now: number;
}

export interface SuiteTotals {
  passed: number;
  failed: number;
  runs: number;
}

const totalsRow = z.object({ passed: z.number(), failed: z.number(), runs: z.number() });
const passRates = createRowReader(z.object({ pass_rate: z.number() }).transform((row) => row.pass_rate));
const runIds = createRowReader(z.object({ id: z.string() }).transform(({ id }) => id));

/** How many completed runs a suite's trend shows the pass rates of. */
const trendLength = 12;

/** Runs; they start as `running`, are counted up as iterations end, and end once. */
export function createRunStore(database: DatabaseSync) {
  const insert = database.prepare(`
    insert into runs (
      id, project_id, suite_id, run_number, status, minimum_pass_rate, notes, total, passed, failed, created_at,
      source, external_id, evaluation_config_hash, group_id, environment
    ) values (
      :id, :projectId, :suiteId, (select coalesce(max(run_number), 0) + 1 from runs where suite_id = :suiteId),
      'running', :minimumPassRate, :notes, :total, 0, 0, :now, :source, :externalId, :evaluationConfigHash, :groupId,
      :environment
    )`);
  const count = database.prepare('update runs set passed = passed + ?, failed = failed + ? where id = ?');
  const setScoreIntegrity = database.prepare('update runs set score_integrity = ? where id = ?');
  const selectPrevious = database.prepare(`
    ${select} from runs where suite_id = ? and run_number < ? and status = 'completed' order by run_number desc limit 1`);
  const setTotal = database.prepare('update runs set total = ? where id = ?');
  const end = database.prepare(`
    update runs set status = :status, result = :result, failure = :failure, completed_at = :now
    where id = :id and status = 'running'`);
  const endAll = database.prepare(`
    update runs set status = 'failed', failure = :failure, completed_at = :now
    where status = 'running' and source <> 'sdk'`);
  const selectOne = database.prepare(`${select} from runs where id = ?`);
  const selectExternal = database.prepare(`${select} from runs where project_id = ? and external_id = ?`);
  const selectOfSuite = database.prepare(`${select} from runs where suite_id = ? order by run_number desc limit ?`);
  const selectTotals = database.prepare(`
    select coalesce(sum(passed), 0) as passed, coalesce(sum(failed), 0) as failed, count(*) as runs
    from runs where suite_id = ? and (source <> 'sdk' or completed_at is not null)`);
  const selectTrend = database.prepare(`
    select cast(passed as real) / total as pass_rate from runs
    where suite_id = ? and status = 'completed' order by run_number desc limit ${trendLength}`);
  const selectActive = database.prepare("select id from runs where project_id = ? and status = 'running'");
  const listeners: Array<(runId: string) => void> = [];
  return {
    get: (id: string) => runRows.one(selectOne.get(id)),
    getExternal: (projectId: string, externalId: string) => runRows.one(selectExternal.get(projectId, externalId)),
    listOfSuite: (suiteId: string, limit: number): RunRecord[] => runRows.all(selectOfSuite.all(suiteId, limit)),
    /** Ids of those that have not ended. */
    listActive: (projectId: string): string[] => runIds.all(selectActive.all(projectId)),
    getTotals: (suiteId: string): SuiteTotals => totalsRow.parse(selectTotals.get(suiteId)),
    /** Fractions, oldest first. */
    listPassRates: (suiteId: string): number[] => passRates.all(selectTrend.all(suiteId)).toReversed(),
    /** The latest completed one before a run, of the same suite. */
    getPrevious: ({ suiteId, runNumber }: Pick<RunRecord, 'suiteId' | 'runNumber'>) =>
      runRows.one(selectPrevious.get(suiteId, runNumber)),
    insert: ({ externalId, groupId, source = 'api', environment = null, ...run }: NewRun): void => {
      insert.run({
        ...run,
        source: externalId === undefined ? source : 'sdk',
        externalId: externalId ?? null,
        groupId: groupId ?? null,
        environment: environment && JSON.stringify(environment),
      });
    },
    setScoreIntegrity: (id: string, integrity: RunRecord['scoreIntegrity']): void => {
      setScoreIntegrity.run(integrity, id);
    },
    count: (id: string, result: 'passed' | 'failed'): void => {
      count.run(result === 'passed' ? 1 : 0, result === 'failed' ? 1 : 0, id);
    },
    setTotal: (id: string, total: number): void => {
      setTotal.run(total, id);
    },
    /** Returns whether this call ended it; a run that has ended stays as it ended. */
    end: (id: string, runEnd: RunEnd): boolean => {
      const hasEnded = end.run({ id, ...runEnd }).changes > 0;
      // Once the transaction is over.
      if (hasEnded) for (const listener of listeners) queueMicrotask(() => listener(id));
      return hasEnded;
    },
    /** Calls the listener, which must not throw, for each run that this process ends. */
    onEnd: (listener: (runId: string) => void): void => void listeners.push(listener),
    /** Of the runs that are executed here; for those that are ingested, others say when they end. */
    endAll: (failure: string, now: number): void => {
      endAll.run({ failure, now });
    },
  };
}
