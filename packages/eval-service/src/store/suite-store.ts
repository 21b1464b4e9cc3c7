import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { SuiteContent } from '../bodies/stored-suite.ts';
import { createRowReader, jsonColumn } from './schema.ts';

const select =
  'select id, project_id as projectId, record as content, created_at as createdAt, updated_at as updatedAt';

const suiteRow = z.object({
  id: z.string(),
  projectId: z.string(),
  content: jsonColumn<SuiteContent>(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type SuiteRecord = z.infer<typeof suiteRow>;
const suiteRows = createRowReader(suiteRow);

/** Opens the suites. Deleting a suite deletes its cases and keeps its runs. */
export function createSuiteStore(database: DatabaseSync) {
  const insert = database.prepare('insert into suites values (:id, :projectId, :record, :now, :now)');
  const update = database.prepare('update suites set record = :record, updated_at = :now where id = :id');
  const remove = database.prepare('delete from suites where id = ?');
  const selectOne = database.prepare(`${select} from suites where project_id = ? and id = ?`);
  const selectScheduled = database.prepare(
    `${select} from suites where json_extract(record, '$.schedule.enabled') order by created_at, rowid`,
  );
  const selectAll = database.prepare(`${select} from suites where project_id = ? order by created_at, rowid`);
  return {
    list: (projectId: string): SuiteRecord[] => suiteRows.all(selectAll.all(projectId)),
    /** Lists the suites of all projects that run by themselves. */
    listScheduled: (): SuiteRecord[] => suiteRows.all(selectScheduled.all()),
    get: (projectId: string, id: string): SuiteRecord | undefined => suiteRows.one(selectOne.get(projectId, id)),
    insert: (suite: { id: string; projectId: string; content: SuiteContent; now: number }): void => {
      const { content, ...columns } = suite;
      insert.run({ ...columns, record: JSON.stringify(content) });
    },
    update: (suite: { id: string; content: SuiteContent; now: number }): void => {
      const { content, ...columns } = suite;
      update.run({ ...columns, record: JSON.stringify(content) });
    },
    delete: (id: string): void => {
      remove.run(id);
    },
  };
}
