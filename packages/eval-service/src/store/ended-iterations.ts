import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { iterationColumns, iterationRow } from './iterations.ts';
import { createRowReader } from './schema.ts';

const endedRow = iterationRow.omit({ provider: true }).extend({
  projectId: z.string(),
  suiteId: z.string(),
  runId: z.string(),
  runEndedAt: z.number(),
});

const endedRows = createRowReader(endedRow);

/** The position of an iteration among the iterations of all ended runs of a project. */
export type EndPosition = Pick<z.infer<typeof endedRow>, 'runEndedAt' | 'runId' | 'position'>;

/** An iteration of a run that has ended. */
export type EndedIteration = ReturnType<ReturnType<typeof createEndedIterationStore>['list']>[number];

/** Opens the iterations of all ended runs of a project, without those that were cut off. */
export function createEndedIterationStore(database: DatabaseSync) {
  const prepare = () =>
    database.prepare(`
      select r.project_id as projectId, r.suite_id as suiteId, r.id as runId, r.completed_at as runEndedAt, ${iterationColumns}
      from runs r join iterations i on i.run_id = r.id
      where r.project_id = :projectId and r.completed_at is not null and i.status <> 'cancelled'
        and (r.completed_at, r.id, i.position) > (:runEndedAt, :runId, :position)
      order by r.completed_at, r.id, i.position limit :limit`);
  // Prepared on first use, because a service inside a gate never lists them.
  let select: ReturnType<typeof prepare> | undefined;
  return {
    /** Lists up to `limit` iterations after a position, ordered by the end of their runs; from the first if the position is null. */
    list: (projectId: string, after: EndPosition | null, limit: number) => {
      const { runEndedAt, runId, position } = after ?? { runEndedAt: -1, runId: '', position: -1 };
      select ??= prepare();
      const rows = endedRows.all(select.all({ projectId, runEndedAt, runId, position, limit }));
      return rows.map(({ toolCalls, judges, ...row }) => ({
        ...row,
        testCaseId: row.caseId,
        judges: judges ?? [],
        actualToolCalls: toolCalls?.actual ?? [],
        expectedToolCalls: toolCalls?.expected ?? [],
      }));
    },
  };
}
