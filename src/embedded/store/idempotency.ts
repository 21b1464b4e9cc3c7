import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

const answerRow = z.object({ fingerprint: z.string(), answer: z.string() });

/** What was answered to requests that carried an idempotency key. */
export function createIdempotencyStore(database: DatabaseSync) {
  const insert = database.prepare('insert into idempotency_keys values (:scope, :key, :fingerprint, :answer)');
  const select = database.prepare('select fingerprint, answer from idempotency_keys where scope = ? and key = ?');
  return {
    get: (scope: string, key: string) => answerRow.optional().parse(select.get(scope, key)),
    insert: (entry: { scope: string; key: string; fingerprint: string; answer: string }): void => {
      insert.run(entry);
    },
  };
}
