import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { ServerContent } from '../../../../src/service/operations/servers.ts';
import { createRowReader, jsonColumn } from './schema.ts';

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
const serverRows = createRowReader(serverRow);

/**
 * Opens the records of MCP servers. Names are unique in their project. The row of a deleted server is kept but never read, so that references
 * to it can be explained; its name becomes free, and its credentials are erased.
 */
export function createServerStore(database: DatabaseSync) {
  const insert = database.prepare('insert into servers values (:id, :projectId, :name, :record, :now, :now, null)');
  const update = database.prepare(
    'update servers set name = :name, record = :record, updated_at = :now where id = :id',
  );
  const remove = database.prepare('update servers set deleted_at = :now, record = :record where id = :id');
  const isLive = 'deleted_at is null';
  const selectOne = database.prepare(`${select} from servers where project_id = ? and id = ? and ${isLive}`);
  const selectByName = database.prepare(`${select} from servers where project_id = ? and name = ? and ${isLive}`);
  const selectAll = database.prepare(
    `${select} from servers where project_id = ? and ${isLive} order by created_at, rowid`,
  );
  return {
    list: (projectId: string): ServerRecord[] => serverRows.all(selectAll.all(projectId)),
    get: (projectId: string, id: string) => serverRows.one(selectOne.get(projectId, id)),
    getByName: (projectId: string, name: string) => serverRows.one(selectByName.get(projectId, name)),
    insert: (server: { id: string; projectId: string; content: ServerContent; now: number }): void => {
      const { content, ...columns } = server;
      insert.run({ ...columns, name: content.name, record: JSON.stringify(content) });
    },
    update: (server: { id: string; content: ServerContent; now: number }): void => {
      const { id, content, now } = server;
      update.run({ id, now, name: content.name, record: JSON.stringify(content) });
    },
    delete: ({ id, content }: Pick<ServerRecord, 'id' | 'content'>, now: number): void => {
      const { name, transportType } = content;
      remove.run({ id, now, record: JSON.stringify({ name, transportType, enabled: false }) });
    },
  };
}
