import { z } from 'zod';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '../../../../src/base/errors.ts';
import { createCaseStore } from './case-store.ts';
import { createDocumentStore } from './documents.ts';
import { createEndedIterationStore } from './ended-iterations.ts';
import { createIterationStore } from './iterations.ts';
import { createPlannedCaseStore } from './planned-cases.ts';
import { createProjectStore } from './projects.ts';
import { createRunStore } from './run-store.ts';
import { createRowReader, createTables } from './schema.ts';
import { createServerStore } from './server-store.ts';
import { createSuiteStore } from './suite-store.ts';

/** Pages that SQLite keeps in memory; negative means KiB. */
const cacheKib = 16 * 1024;

/** The page size of a temporary database. At every commit, SQLite walks over the changed pages in memory, so large pages keep their number low. */
const temporaryPageBytes = 16 * 1024;

/**
 * Opens the store: a file below `dataDir` that only its owner may read, or, without a directory, SQLite's own temporary
 * database. This stays in memory until it outgrows the page cache, and then moves to a file without a name, so that a run
 * with large traces needs disk space instead of memory. The file disappears with the process, however it ends.
 *
 * @throws {ConfigurationError} if another process uses the data directory, or if the store has another schema.
 */
export function openStore(dataDir: string | undefined) {
  const database = new DatabaseSync(dataDir === undefined ? '' : createStoreFile(dataDir));
  try {
    // A stored database survives a crash of this process and belongs to one process at a time: opening it ends the runs
    // that no process executes any more. A temporary database need not survive a crash.
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
    /** Runs `write` in a transaction: either all its writes are kept or none. Not nestable. */
    transact: <Result>(write: () => Result): Result => {
      begin.run();
      try {
        const result = write();
        commit.run();
        return result;
      } catch (error) {
        // If the disk is full, SQLite rolls back by itself, and a second rollback would fail.
        if (database.isTransaction) database.exec('rollback');
        throw error;
      }
    },
    close: (): void => database.close(),
  };
}

export type Store = ReturnType<typeof openStore>;

/** Creates the store's file. It is readable only by its owner before it has content, because server records may contain credentials. */
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

/** Opens the answers to requests that had an idempotency key. */
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
