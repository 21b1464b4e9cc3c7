import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { ConfigurationError } from '../../base/errors.ts';

/** One entry per version of the store, applied in order; entries are added, never edited. */
const migrations = [
  `
  create table projects (
    id text primary key, name text not null, record text not null,
    created_at integer not null, updated_at integer not null
  );
  create table servers (
    id text primary key, project_id text not null references projects (id), name text not null, record text not null,
    created_at integer not null, updated_at integer not null,
    unique (project_id, name)
  );
  create table suites (
    id text primary key, project_id text not null references projects (id), record text not null,
    created_at integer not null, updated_at integer not null
  );
  create table cases (
    id text primary key, suite_id text not null references suites (id) on delete cascade, position integer not null,
    declared_id text not null, record text not null, created_at integer not null, updated_at integer not null,
    unique (suite_id, declared_id), unique (suite_id, position)
  );
  -- Runs outlive their suite, so they do not refer to it.
  create table runs (
    id text primary key, project_id text not null references projects (id), suite_id text not null,
    run_number integer not null, status text not null, result text, minimum_pass_rate real not null,
    notes text, failure text, total integer not null, passed integer not null, failed integer not null,
    created_at integer not null, completed_at integer
  );
  create index runs_of_suite on runs (suite_id, run_number);
  create table iterations (
    run_id text not null references runs (id), position integer not null, id text not null unique,
    case_id text not null, title text not null, iteration_number integer not null,
    status text not null, result text, started_at integer, duration_ms integer, error text,
    tool_calls text, steps text,
    primary key (run_id, position)
  );
  -- Apart from the rest, so that a page of iterations never reads past their traces.
  create table traces (iteration_id text primary key, document text not null);
  create table idempotency_keys (
    scope text not null, key text not null, fingerprint text not null, answer text not null,
    primary key (scope, key)
  );
  `,
];

const versionRow = z.object({ user_version: z.int() });

/**
 * Brings a store up to this version's schema, in one transaction.
 *
 * @throws {ConfigurationError} when a newer version wrote the store.
 */
export function migrateSchema(database: DatabaseSync): void {
  const version = versionRow.parse(database.prepare('pragma user_version').get()).user_version;
  if (version > migrations.length) {
    throw new ConfigurationError([
      {
        code: 'store-too-new',
        message: `The data directory was written by a newer version (store version ${version}, this one knows ${migrations.length}); use that version or another directory`,
      },
    ]);
  }
  database.exec('begin');
  for (const migration of migrations.slice(version)) database.exec(migration);
  database.exec(`pragma user_version = ${migrations.length}; commit`);
}
