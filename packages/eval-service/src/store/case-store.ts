import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { CaseContent } from '../../../../src/service/bodies/case-body.ts';
import { createId } from '../../../../src/base/ids.ts';
import { createRowReader, jsonColumn } from './schema.ts';

const select =
  'select id, suite_id as suiteId, declared_id as declaredId, record as content, created_at as createdAt, updated_at as updatedAt';

const caseRow = z.object({
  id: z.string(),
  suiteId: z.string(),
  declaredId: z.string(),
  content: jsonColumn<CaseContent>(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type CaseRecord = z.infer<typeof caseRow>;
const caseRows = createRowReader(caseRow);

/** Makes the record of a new case. Creates a declared id if the client gave none. */
export function createCaseRecord(
  suiteId: string,
  content: CaseContent,
  now: number,
  { declaredId = createId('c') }: { declaredId?: string | undefined } = {},
): CaseRecord {
  return { id: createId('case'), suiteId, declaredId, content, createdAt: now, updatedAt: now };
}

/** Opens the cases of suites, listed in the order of creation. Declared ids are unique in their suite. */
export function createCaseStore(database: DatabaseSync) {
  const insert = database.prepare(`
    insert into cases values (
      :id, :suiteId, (select coalesce(max(position) + 1, 0) from cases where suite_id = :suiteId),
      :declaredId, :record, :createdAt, :updatedAt
    )`);
  const update = database.prepare('update cases set record = :record, updated_at = :updatedAt where id = :id');
  const remove = database.prepare('delete from cases where id = ?');
  const selectOne = database.prepare(`${select} from cases where suite_id = ? and id = ?`);
  const selectDeclared = database.prepare(`${select} from cases where suite_id = ? and declared_id = ?`);
  const selectAll = database.prepare(`${select} from cases where suite_id = ? order by position`);
  return {
    list: (suiteId: string): CaseRecord[] => caseRows.all(selectAll.all(suiteId)),
    get: (suiteId: string, id: string) => caseRows.one(selectOne.get(suiteId, id)),
    getDeclared: (suiteId: string, declaredId: string) => caseRows.one(selectDeclared.get(suiteId, declaredId)),
    insert: ({ content, ...columns }: CaseRecord): void => {
      insert.run({ ...columns, record: JSON.stringify(content) });
    },
    update: ({ id, content, updatedAt }: CaseRecord): void => {
      update.run({ id, updatedAt, record: JSON.stringify(content) });
    },
    delete: (id: string): void => {
      remove.run(id);
    },
  };
}
