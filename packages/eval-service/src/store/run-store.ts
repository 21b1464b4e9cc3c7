import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { TerminalStatus } from '../../../../src/runner/runner.ts';
import { createRowReader, jsonColumn } from './schema.ts';

const select = `
  select id, project_id as projectId, suite_id as suiteId, run_number as runNumber, status, result,
    minimum_pass_rate as minimumPassRate, notes, failure, total, passed, failed, created_at as createdAt,
    completed_at as completedAt, source, external_id as externalId, evaluation_config_hash as evaluationConfigHash,
    group_id as groupId, score_integrity as scoreIntegrity, environment`;

/** The environment of a run at its start. */
export type RunEnvironment = {
  id: string;
  name: string;
  revision: number;
};

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
  /** `sdk` runs were executed elsewhere and ingested. */
  source: z.enum(['api', 'sdk', 'schedule']),
  /** The sender's id of an ingested run; unique in the project. */
  externalId: z.string().nullable(),
  /** The hash of the evaluation settings. */
  evaluationConfigHash: z.string().nullable(),
  groupId: z.string().nullable(),
  /** The integrity of the scores of an ingested run that has ended. Null if there are no scores. */
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
  /** The number of all planned iterations. */
  total: number;
  now: number;
  evaluationConfigHash: string | null;
  groupId?: string | undefined;
  /** The requester of the run; `api` by default. */
  source?: 'api' | 'schedule';
  environment?: RunEnvironment | null;
  /** The sender's id of a run that was executed elsewhere. */
  externalId?: string;
}

export interface RunEnd {
  status: TerminalStatus;
  /** Null for every status but `completed`. */
  result: 'passed' | 'failed' | null;
  /** The reason why there is no result, in one sentence; null if there is a result, or if the client cancelled the run. */
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

/** The number of completed runs in a suite's trend. */
const trendLength = 12;

/** Opens the runs. They start as `running`, count iterations as these end, and end once. */
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
    /** Lists the ids of runs that have not ended. */
    listActive: (projectId: string): string[] => runIds.all(selectActive.all(projectId)),
    getTotals: (suiteId: string): SuiteTotals => totalsRow.parse(selectTotals.get(suiteId)),
    /** Lists pass rates as fractions, oldest first. */
    listPassRates: (suiteId: string): number[] => passRates.all(selectTrend.all(suiteId)).toReversed(),
    /** Finds the latest completed run before a run of the same suite. */
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
    /** Returns true if this call ended the run. A run that has already ended stays unchanged. */
    end: (id: string, runEnd: RunEnd): boolean => {
      const hasEnded = end.run({ id, ...runEnd }).changes > 0;
      // The microtask runs after the transaction.
      if (hasEnded) for (const listener of listeners) queueMicrotask(() => listener(id));
      return hasEnded;
    },
    /** Calls the listener, which must not throw, for each run that this process ends. */
    onEnd: (listener: (runId: string) => void): void => void listeners.push(listener),
    /** Ends the runs that this service executes. The senders of ingested runs end those themselves. */
    endAll: (failure: string, now: number): void => {
      endAll.run({ failure, now });
    },
  };
}
