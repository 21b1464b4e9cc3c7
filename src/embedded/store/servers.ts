import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { ServerContent } from '../bodies/server.ts';
import { jsonColumn } from './schema.ts';

const select =
  'select id, project_id as projectId, record as content, created_at as createdAt, updated_at as updatedAt';

const serverRow = z.object({
  id: z.string(),
  projectId: z.string(),
  content: jsonColumn<ServerContent>(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type ServerRecord = z.infer<typeof serverRow>;

/** Records of MCP servers; names are unique in their project. */
export function createServerStore(database: DatabaseSync) {
  const insert = database.prepare('insert into servers values (:id, :projectId, :name, :record, :now, :now)');
  const update = database.prepare(
    'update servers set name = :name, record = :record, updated_at = :now where id = :id',
  );
  const remove = database.prepare('delete from servers where id = ?');
  const selectOne = database.prepare(`${select} from servers where project_id = ? and id = ?`);
  const selectByName = database.prepare(`${select} from servers where project_id = ? and name = ?`);
  const selectAll = database.prepare(`${select} from servers where project_id = ? order by created_at, rowid`);
  const getRow = (row: unknown): ServerRecord | undefined => serverRow.optional().parse(row);
  return {
    list: (projectId: string): ServerRecord[] => z.array(serverRow).parse(selectAll.all(projectId)),
    get: (projectId: string, id: string) => getRow(selectOne.get(projectId, id)),
    getByName: (projectId: string, name: string) => getRow(selectByName.get(projectId, name)),
    insert: (server: { id: string; projectId: string; content: ServerContent; now: number }): void => {
      const { content, ...columns } = server;
      insert.run({ ...columns, name: content.name, record: JSON.stringify(content) });
    },
    update: (server: { id: string; content: ServerContent; now: number }): void => {
      const { id, content, now } = server;
      update.run({ id, now, name: content.name, record: JSON.stringify(content) });
    },
    delete: (id: string): void => {
      remove.run(id);
    },
  };
}
