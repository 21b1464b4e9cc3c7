import { z } from 'zod';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '../../../../src/base/errors.ts';
import { createCaseStore } from './cases.ts';
import { createDocumentStore } from './documents.ts';
import { createEndedIterationStore } from './ended-iterations.ts';
import { createIterationStore } from './iterations.ts';
import { createPlannedCaseStore } from './planned-cases.ts';
import { createProjectStore } from './projects.ts';
import { createRunStore } from './runs.ts';
import { createRowReader, createTables } from './schema.ts';
import { createServerStore } from './servers.ts';
import { createSuiteStore } from './suites.ts';

/** Pages that SQLite keeps in memory; negative means KiB. */
const cacheKib = 16 * 1024;

/** Of a temporary database. At every commit SQLite walks over the changed pages in memory, so these should be few. */
const temporaryPageBytes = 16 * 1024;

/**
 * Opens the store: a file below `dataDir` that only its owner may read, or, without one, SQLite's own temporary
 * database. That one lives in memory until it outgrows the page cache and then spills into a file without a name, so
 * that a run with large traces costs disk and not memory; nothing is left of it however the process ends.
 *
 * @throws {ConfigurationError} when another process uses the data directory, or the store has another schema.
 */
export function openStore(dataDir: string | undefined) {
  const database = new DatabaseSync(dataDir === undefined ? '' : createStoreFile(dataDir));
  try {
    // A store that is kept survives a crash of this process, and belongs to one process at a time: opening it ends the
    // runs that no process executes any more. A temporary one has nothing to survive.
    const durability =
      dataDir === undefined
        ? `pragma page_size = ${temporaryPageBytes}; pragma journal_mode = memory; pragma synchronous = off;`
        : 'pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal;';
    database.exec(`${durability} pragma cache_size = -${cacheKib}; pragma foreign_keys = on;`);
    createTables(database);
  } catch (error) {
    database.close();
    if (!isLocked(error)) throw error;
    const message = `Another process uses the data directory ${dataDir ?? ''}; stop it or choose another directory`;
    throw new ConfigurationError([{ code: 'store-in-use', message }], { cause: error });
  }
  const begin = database.prepare('begin');
  const commit = database.prepare('commit');
  return {
    projects: createProjectStore(database),
    servers: createServerStore(database),
    suites: createSuiteStore(database),
    cases: createCaseStore(database),
    runs: createRunStore(database),
    iterations: createIterationStore(database),
    endedIterations: createEndedIterationStore(database),
    plannedCases: createPlannedCaseStore(database),
    idempotency: createIdempotencyStore(database),
    documents: createDocumentStore(database),
    /** Runs `write` so that either all it wrote is kept or nothing. Not nestable. */
    transact: <Result>(write: () => Result): Result => {
      begin.run();
      try {
        const result = write();
        commit.run();
        return result;
      } catch (error) {
        // SQLite rolls back by itself where the disk is full, and then there is nothing to roll back.
        if (database.isTransaction) database.exec('rollback');
        throw error;
      }
    },
    close: (): void => database.close(),
  };
}

export type Store = ReturnType<typeof openStore>;

/** Server records may hold credentials, so the file is readable by its owner alone before anything is in it. */
function createStoreFile(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'embedded.db');
  closeSync(openSync(path, 'a', 0o600));
  return path;
}

/** SQLITE_BUSY, https://sqlite.org/rescode.html#busy */
function isLocked(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

const answerRows = createRowReader(z.object({ fingerprint: z.string(), answer: z.string() }));

/** What was answered to requests that carried an idempotency key. */
function createIdempotencyStore(database: DatabaseSync) {
  const insert = database.prepare('insert into idempotency_keys values (:scope, :key, :fingerprint, :answer)');
  const select = database.prepare('select fingerprint, answer from idempotency_keys where scope = ? and key = ?');
  return {
    get: (scope: string, key: string) => answerRows.one(select.get(scope, key)),
    insert: (entry: { scope: string; key: string; fingerprint: string; answer: string }): void => {
      insert.run(entry);
    },
  };
}
