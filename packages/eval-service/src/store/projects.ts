import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { createRowReader, jsonColumn } from './schema.ts';

export interface ProjectContent {
  organizationId: string;
  description: string | null;
  icon: string | null;
  visibility: 'public' | 'private';
}

const select = 'select id, name, record as content, created_at as createdAt, updated_at as updatedAt';

const projectRow = z.object({
  id: z.string(),
  name: z.string(),
  content: jsonColumn<ProjectContent>(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type ProjectRecord = z.infer<typeof projectRow>;
const projectRows = createRowReader(projectRow);

/** Ordered by the references between tables. Idempotency keys contain the id of the project or of one of its suites in their scope. */
const deletions = [
  `delete from idempotency_keys where instr(scope, :id) > 0
    or exists (select 1 from suites where project_id = :id and instr(scope, suites.id) > 0)`,
  `delete from traces where iteration_id in (
    select iterations.id from iterations join runs on runs.id = run_id where project_id = :id)`,
  'delete from iterations where run_id in (select id from runs where project_id = :id)',
  'delete from runs where project_id = :id',
  'delete from suites where project_id = :id',
  'delete from servers where project_id = :id',
  'delete from projects where id = :id',
];

/** Opens the projects. A new store always has one; short paths mean the oldest. */
export function createProjectStore(database: DatabaseSync) {
  const insert = database.prepare('insert into projects values (:id, :name, :record, :now, :now)');
  const update = database.prepare(
    'update projects set name = :name, record = :record, updated_at = :now where id = :id',
  );
  const selectOne = database.prepare(`${select} from projects where id = ?`);
  const selectAll = database.prepare(`${select} from projects order by created_at, rowid`);
  return {
    list: (): ProjectRecord[] => projectRows.all(selectAll.all()),
    get: (id: string): ProjectRecord | undefined => projectRows.one(selectOne.get(id)),
    insert: (project: { id: string; name: string; content: ProjectContent; now: number }): void => {
      const { id, name, content, now } = project;
      insert.run({ id, name, record: JSON.stringify(content), now });
    },
    update: (project: { id: string; name: string; content: ProjectContent; now: number }): void => {
      const { id, name, content, now } = project;
      update.run({ id, name, record: JSON.stringify(content), now });
    },
    /** Deletes a project with all its records. Call it in a transaction. */
    delete: (id: string): void => {
      for (const deletion of deletions) database.prepare(deletion).run({ id });
    },
  };
}
