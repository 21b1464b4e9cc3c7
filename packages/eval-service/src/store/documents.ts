import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

/** A stored record of any kind. Times are milliseconds since the epoch. */
export interface DocumentRecord<Content> {
  id: string;
  projectId: string;
  /** The record to which it belongs, such as the image of a build; null if it belongs only to the project. */
  parentId: string | null;
  content: Content;
  createdAt: number;
  updatedAt: number;
}

/** The records of one kind. */
export interface DocumentCollection<Content> {
  /** Lists the records of a project, oldest first. */
  list(projectId: string): DocumentRecord<Content>[];
  /** Lists the records that belong to another record, oldest first. */
  listOf(parentId: string): DocumentRecord<Content>[];
  /** Lists the records of all projects, oldest first. */
  listAll(): DocumentRecord<Content>[];
  /** Undefined if the project has no record with this id. */
  get(projectId: string, id: string): DocumentRecord<Content> | undefined;
  insert(document: { id: string; projectId: string; parentId?: string | null; content: Content; now: number }): void;
  update(document: { id: string; content: Content; now: number }): void;
  delete(id: string): void;
}

const columns =
  'id, project_id as projectId, parent_id as parentId, record, created_at as createdAt, updated_at as updatedAt';

const documentRow = z.object({
  id: z.string(),
  projectId: z.string(),
  parentId: z.string().nullable(),
  record: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/**
 * Stores records as JSON that are only listed, read and replaced: environments, hosts, images. `open` opens the collection of a kind;
 * `content` checks every record that is read, because an older version may have written it.
 */
export function createDocumentStore(database: DatabaseSync) {
  const order = 'order by created_at, rowid';
  const prepare = () => ({
    list: database.prepare(`select ${columns} from documents where kind = ? and project_id = ? ${order}`),
    listOf: database.prepare(`select ${columns} from documents where kind = ? and parent_id = ? ${order}`),
    listAll: database.prepare(`select ${columns} from documents where kind = ? ${order}`),
    get: database.prepare(`select ${columns} from documents where kind = ? and project_id = ? and id = ?`),
    insert: database.prepare('insert into documents values (:kind, :id, :projectId, :parentId, :record, :now, :now)'),
    update: database.prepare(
      'update documents set record = :record, updated_at = :now where kind = :kind and id = :id',
    ),
    delete: database.prepare('delete from documents where kind = ? and id = ?'),
    deleteOf: database.prepare('delete from documents where parent_id = ?'),
  });
  // Prepared on first use, because a service inside a gate has no such records.
  let statements: ReturnType<typeof prepare> | undefined;
  const use = () => (statements ??= prepare());

  return {
    /** Deletes the records of all kinds that belong to another record. */
    deleteOf: (parentId: string): void => {
      use().deleteOf.run(parentId);
    },
    open: <Content>(kind: string, content: z.ZodType<Content>): DocumentCollection<Content> => {
      const read = (row: unknown): DocumentRecord<Content> => {
        const { record, ...rest } = documentRow.parse(row);
        return { ...rest, content: content.parse(JSON.parse(record)) };
      };
      return {
        list: (projectId) => use().list.all(kind, projectId).map(read),
        listOf: (parentId) => use().listOf.all(kind, parentId).map(read),
        listAll: () => use().listAll.all(kind).map(read),
        get: (projectId, id) => {
          const row = use().get.get(kind, projectId, id);
          return row === undefined ? undefined : read(row);
        },
        insert: ({ content: value, parentId = null, ...rest }) => {
          use().insert.run({ kind, ...rest, parentId, record: JSON.stringify(value) });
        },
        update: ({ content: value, ...rest }) => {
          use().update.run({ kind, ...rest, record: JSON.stringify(value) });
        },
        delete: (id) => {
          use().delete.run(kind, id);
        },
      };
    },
  };
}
