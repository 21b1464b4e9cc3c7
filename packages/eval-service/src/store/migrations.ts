/**
 * One entry per version of the store, applied in order to a store of an older version; entries are added, never edited. The tables of
 * a fresh store are in schema.ts.
 */
export const migrations = [
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
  // Runs that were executed elsewhere: known by the sender's ids, of cases that need not be here, and perhaps by models.
  `
  alter table runs add column source text not null default 'api';
  alter table runs add column external_id text;
  alter table runs add column evaluation_config_hash text;
  create unique index runs_by_external_id on runs (project_id, external_id);
  create table iterations_of_any_origin (
    run_id text not null references runs (id), position integer not null, id text not null unique,
    external_id text, case_id text, title text not null, iteration_number integer not null,
    status text not null, result text, started_at integer, duration_ms integer, error text,
    tool_calls text, steps text, model text, provider text, tokens_used integer,
    primary key (run_id, position), unique (run_id, external_id)
  );
  insert into iterations_of_any_origin
      (run_id, position, id, case_id, title, iteration_number, status, result, started_at, duration_ms, error,
        tool_calls, steps)
    select run_id, position, id, case_id, title, iteration_number, status, result, started_at, duration_ms, error,
      tool_calls, steps from iterations;
  drop table iterations;
  alter table iterations_of_any_origin rename to iterations;
  `,
  // What the models of an iteration used.
  `
  alter table iterations add column usage text;
  `,
  // What the judges of an iteration used.
  `
  alter table iterations add column judges text;
  `,
  // What a store kept before it had organizations is the local one's. Documents: the kinds of records that are only kept and listed.
  `
  update projects set record = json_set(record, '$.organizationId', 'org_local');
  create table documents (
    kind text not null, id text not null, project_id text not null references projects (id) on delete cascade,
    parent_id text, record text not null, created_at integer not null, updated_at integer not null,
    primary key (kind, id)
  );
  create index documents_of_project on documents (kind, project_id, created_at);
  create index documents_of_parent on documents (kind, parent_id, created_at);
  `,
  // Deleted servers keep their row and give their name back.
  `
  create table servers_with_deletion (
    id text primary key, project_id text not null references projects (id), name text not null, record text not null,
    created_at integer not null, updated_at integer not null, deleted_at integer
  );
  insert into servers_with_deletion
    select id, project_id, name, record, created_at, updated_at, null from servers order by created_at, rowid;
  drop table servers;
  alter table servers_with_deletion rename to servers;
  create unique index servers_by_name on servers (project_id, name) where deleted_at is null;
  `,
  // What a run planned for its cases, so that its steps can be listed before they ran and runs can be compared; scores and groups.
  `
  alter table runs add column group_id text;
  alter table runs add column score_integrity text;
  alter table iterations add column case_key text;
  alter table iterations add column scores text;
  create table planned_cases (
    run_id text not null references runs (id) on delete cascade, case_key text not null, record text not null,
    primary key (run_id, case_key)
  ) without rowid;
  create index runs_by_end on runs (project_id, completed_at, id);
  `,
  // Where a run took place.
  `
  alter table runs add column environment text;
  `,
];
