import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { type CaseOutcome, joinSteps } from '../../../../src/engine/outcome.ts';
import type { IterationJudge, StepResult, ToolCall } from '../../../../src/model/run.ts';
import type { ModelUsage } from '../../../../src/model/usage.ts';
import type { ModelName } from '../../../../src/models/language-model.ts';
import type { IterationScores } from '../scores.ts';
import { createRowReader, jsonColumn } from './schema.ts';

export interface ToolCalls {
  actual: ToolCall[];
  expected: ToolCall[];
}

export const iterationRow = z.object({
  position: z.number(),
  id: z.string(),
  /** Null if an ingested iteration belongs to no case of the suite. */
  caseId: z.string().nullable(),
  title: z.string(),
  iterationNumber: z.number(),
  status: z.string(),
  result: z.enum(['passed', 'failed']).nullable(),
  startedAt: z.number().nullable(),
  durationMs: z.number().nullable(),
  error: z.string().nullable(),
  toolCalls: jsonColumn<ToolCalls>().nullable(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  tokensUsed: z.number().nullable(),
  usage: jsonColumn<ModelUsage>().nullable(),
  judges: jsonColumn<IterationJudge[]>().nullable(),
  /** Identifies the case in all runs of a suite: its declared id, or else its title. Null in runs of older versions. */
  caseKey: z.string().nullable(),
});
export type IterationRecord = z.infer<typeof iterationRow>;
const iterationRows = createRowReader(iterationRow);

const renamedColumns: Record<string, string> = {
  caseId: 'case_id',
  iterationNumber: 'iteration_number',
  startedAt: 'started_at',
  durationMs: 'duration_ms',
  toolCalls: 'tool_calls',
  tokensUsed: 'tokens_used',
  caseKey: 'case_key',
};

/** The columns of an iteration's row, for a select from `iterations i`. */
export const iterationColumns = Object.keys(iterationRow.shape)
  .map((field) => `i.${renamedColumns[field] ?? field} as ${field}`)
  .join(', ');

const progressRow = z.object({
  status: z.string(),
  caseKey: z.string().nullable(),
  /** Null until it ends, and if it was executed elsewhere. */
  steps: jsonColumn<StepResult[]>().nullable(),
});
export type IterationProgress = z.infer<typeof progressRow>;
const progressRows = createRowReader(progressRow);
const scoresRows = createRowReader(z.object({ id: z.string(), scores: jsonColumn<IterationScores>() }));
const traceRows = createRowReader(z.object({ document: z.string() }));

export interface NewIteration {
  runId: string;
  /** The position in the run, from 0, by which iterations are listed. */
  position: number;
  id: string;
  caseId: string;
  caseKey: string;
  title: string;
  /** From 1, within the case. */
  iterationNumber: number;
  model: ModelName | null;
}

/** An iteration that was executed elsewhere: it has the sender's id, has already ended, and is listed after the earlier ones. */
export interface IngestedIteration {
  runId: string;
  id: string;
  externalId: string;
  caseId: string | null;
  caseKey: string;
  title: string;
  iterationNumber: number;
  result: 'passed' | 'failed';
  durationMs: number | null;
  error: string | null;
  toolCalls: ToolCalls;
  model: string | null;
  provider: string | null;
  tokensUsed: number | null;
  /** Null if no scorer was used. */
  scores: IterationScores | null;
  /** An open document; undefined if none was sent. */
  trace: object | undefined;
}

/** Opens the iterations of runs. They are planned as `pending` when the run is created. */
export function createIterationStore(database: DatabaseSync) {
  const insert = database.prepare(`
    insert into iterations (run_id, position, id, case_id, case_key, title, iteration_number, status, model, provider)
    values (:runId, :position, :id, :caseId, :caseKey, :title, :iterationNumber, 'pending', :model, :provider)`);
  const ingest = database.prepare(`
    insert into iterations (
      run_id, position, id, external_id, case_id, case_key, title, iteration_number, status, result, duration_ms, error,
      tool_calls, model, provider, tokens_used, scores
    ) values (
      :runId, (select coalesce(max(position) + 1, 0) from iterations where run_id = :runId), :id, :externalId, :caseId,
      :caseKey, :title, :iterationNumber, 'completed', :result, :durationMs, :error, :toolCalls, :model, :provider,
      :tokensUsed, :scores
    ) on conflict (run_id, external_id) do nothing`);
  const start = database.prepare(`update iterations set status = 'running', started_at = ? where id = ?`);
  const end = database.prepare(`
    update iterations set status = :status, result = :result, started_at = :startedAtMs, duration_ms = :durationMs,
      error = :error, tool_calls = :toolCalls, steps = :steps, tokens_used = :tokensUsed, usage = :usage,
      judges = :judges
    where id = :id and status = 'running'`);
  const keepUsage = database.prepare(`
    update iterations set tokens_used = :tokensUsed, usage = :usage, judges = :judges
    where id = :id and status = 'cancelled'`);
  const insertTrace = database.prepare('insert into traces values (?, ?)');
  const cancel = database.prepare(`
    update iterations set status = 'cancelled' where run_id = ? and status in ('pending', 'running')`);
  const cancelAll = database.prepare(`
    update iterations set status = 'cancelled' where status in ('pending', 'running')`);
  const selectPage = database.prepare(`
    select ${iterationColumns} from iterations i where run_id = ? and position > ? order by position limit ?`);
  const selectProgress = database.prepare(`
    select steps, status, case_key as caseKey from iterations where run_id = ? and id = ?`);
  const selectScores = database.prepare('select id, scores from iterations where run_id = ? and scores is not null');
  const selectTrace = database.prepare(`
    select document from traces join iterations on id = iteration_id where run_id = ? and id = ?`);
  return {
    /** Lists up to `limit` iterations after a position (−1: from the start). */
    list: (runId: string, afterPosition: number, limit: number): IterationRecord[] =>
      iterationRows.all(selectPage.all(runId, afterPosition, limit)),
    /** Undefined if there is no such iteration. */
    getProgress: (runId: string, id: string): IterationProgress | undefined =>
      progressRows.one(selectProgress.get(runId, id)),
    /** Lists the scores of the iterations of an ingested run, by iteration id. */
    listScores: (runId: string): ReadonlyMap<string, IterationScores> =>
      new Map(scoresRows.all(selectScores.all(runId)).map(({ id, scores }) => [id, scores])),
    /** Returns the trace as JSON text; undefined if there is none. */
    getTrace: (runId: string, id: string): string | undefined => traceRows.one(selectTrace.get(runId, id))?.document,
    insert: ({ model, ...columns }: NewIteration): void => {
      insert.run({ ...columns, model: model?.name ?? null, provider: model?.provider ?? null });
    },
    /** Returns true if it is new. An existing iteration with the external id stays unchanged. */
    ingest: ({ trace, toolCalls, scores, ...columns }: IngestedIteration): boolean => {
      const texts = { toolCalls: JSON.stringify(toolCalls), scores: scores === null ? null : JSON.stringify(scores) };
      if (ingest.run({ ...columns, ...texts }).changes === 0) return false;
      if (trace !== undefined) insertTrace.run(columns.id, JSON.stringify(trace));
      return true;
    },
    start: (id: string, now: number): void => {
      start.run(now, id);
    },
    /** Returns true if this call ended it. An iteration that was cancelled earlier stays cancelled, and only its model usage is added. */
    end: (id: string, outcome: CaseOutcome): boolean => {
      const { status, result, error, startedAtMs, durationMs, trace, usage, judges } = outcome;
      const toolCalls = JSON.stringify({ actual: outcome.actualToolCalls, expected: outcome.expectedToolCalls });
      const used = {
        id,
        tokensUsed: usage === null ? null : usage.inputTokens + usage.outputTokens,
        usage: usage === null ? null : JSON.stringify(usage),
        judges: JSON.stringify(judges),
      };
      const ended = {
        ...used,
        status,
        result,
        error,
        startedAtMs,
        durationMs,
        toolCalls,
        steps: JSON.stringify(joinSteps(outcome)),
      };
      if (end.run(ended).changes === 0) {
        keepUsage.run(used);
        return false;
      }
      insertTrace.run(id, JSON.stringify(trace));
      return true;
    },
    cancel: (runId: string): void => {
      cancel.run(runId);
    },
    cancelAll: (): void => {
      cancelAll.run();
    },
  };
}
