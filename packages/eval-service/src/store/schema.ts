import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { ConfigurationError } from '../../../../src/base/errors.ts';

/** The version of the schema. Raise it with every change of the tables. */
const schemaVersion = 1;

const tables = `
  create table projects (
    id text primary key, name text not null, record text not null,
    created_at integer not null, updated_at integer not null
  );
  -- Deleted servers keep their row and give their name back.
  create table servers (
    id text primary key, project_id text not null references projects (id), name text not null, record text not null,
    created_at integer not null, updated_at integer not null, deleted_at integer
  );
  create unique index servers_by_name on servers (project_id, name) where deleted_at is null;
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
    created_at integer not null, completed_at integer, source text not null default 'api', external_id text,
    evaluation_config_hash text, group_id text, score_integrity text, environment text
  );
  create index runs_of_suite on runs (suite_id, run_number);
  create unique index runs_by_external_id on runs (project_id, external_id);
  create index runs_by_end on runs (project_id, completed_at, id);
  create table iterations (
    run_id text not null references runs (id), position integer not null, id text not null unique,
    external_id text, case_id text, title text not null, iteration_number integer not null,
    status text not null, result text, started_at integer, duration_ms integer, error text,
    tool_calls text, steps text, model text, provider text, tokens_used integer, usage text, judges text,
    case_key text, scores text,
    primary key (run_id, position), unique (run_id, external_id)
  );
  -- Apart from the rest, so that a page of iterations never reads past their traces.
  create table traces (iteration_id text primary key, document text not null);
  create table planned_cases (
    run_id text not null references runs (id) on delete cascade, case_key text not null, record text not null,
    primary key (run_id, case_key)
  ) without rowid;
  create table idempotency_keys (
    scope text not null, key text not null, fingerprint text not null, answer text not null,
    primary key (scope, key)
  );
  -- The kinds of records that are only kept and listed.
  create table documents (
    kind text not null, id text not null, project_id text not null references projects (id) on delete cascade,
    parent_id text, record text not null, created_at integer not null, updated_at integer not null,
    primary key (kind, id)
  );
  create index documents_of_project on documents (kind, project_id, created_at);
  create index documents_of_parent on documents (kind, parent_id, created_at);
`;

const versionRow = z.object({ user_version: z.int() });

/**
 * Creates the tables of an empty store, in one transaction.
 *
 * @throws {ConfigurationError} if the store has another schema.
 */
export function createTables(database: DatabaseSync): void {
  const version = versionRow.parse(database.prepare('pragma user_version').get()).user_version;
  if (version === schemaVersion) return;
  if (version !== 0) {
    const message = `The data directory has store version ${version}, and this version of the service needs ${schemaVersion}; choose another directory, or use the version that wrote it`;
    throw new ConfigurationError([{ code: 'store-version', message }]);
  }
  database.exec(`begin; ${tables} pragma user_version = ${schemaVersion}; commit`);
}

/** Reads the rows of a query. Call it once per kind of row: a schema takes longer to build than to use. */
export function createRowReader<Row>(row: z.ZodType<Row>) {
  const optional = row.optional();
  const array = z.array(row);
  return {
    /** Undefined if there is no such row. */
    one: (found: unknown): Row | undefined => optional.parse(found),
    all: (found: unknown): Row[] => array.parse(found),
  };
}

/** Reads a text column of JSON. The value is not checked again, because it was checked before this store wrote it. */
export function jsonColumn<Value>() {
  return z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.custom<Value>());
}
