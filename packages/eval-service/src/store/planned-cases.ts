import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { PlannedCaseRecord } from '../planned-case.ts';
import { createRowReader, jsonColumn } from './schema.ts';

const plannedRow = z.object({
  /** The declared id of the case, or else its title. */
  caseKey: z.string(),
  content: jsonColumn<PlannedCaseRecord>(),
});
const plannedRows = createRowReader(plannedRow);

/** Opens the planned cases of runs. A case that runs with several models is stored once. */
export function createPlannedCaseStore(database: DatabaseSync) {
  const insert = database.prepare('insert into planned_cases values (?, ?, ?) on conflict do nothing');
  const selectOne = database.prepare(`
    select case_key as caseKey, record as content from planned_cases where run_id = ? and case_key = ?`);
  const selectAll = database.prepare(
    'select case_key as caseKey, record as content from planned_cases where run_id = ?',
  );
  return {
    /** Keeps the first record of a key. */
    insert: (runId: string, caseKey: string, content: PlannedCaseRecord): void => {
      insert.run(runId, caseKey, JSON.stringify(content));
    },
    /** Undefined in runs of older versions. */
    get: (runId: string, caseKey: string | null): PlannedCaseRecord | undefined =>
      plannedRows.one(selectOne.get(runId, caseKey))?.content,
    list: (runId: string): ReadonlyMap<string, PlannedCaseRecord> =>
      new Map(plannedRows.all(selectAll.all(runId)).map(({ caseKey, content }) => [caseKey, content])),
  };
}
