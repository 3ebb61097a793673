-- Organizations, data planes, workspaces, projects, their API keys, and idempotency records.
-- On an empty database; takes no lock that anyone could wait for.

create table organizations (
  org_id uuid primary key,
  name text not null,
  created_at timestamptz not null default now(),
  archived_at timestamptz
);

create table dataplanes (
  dataplane_id uuid primary key,
  org_id uuid not null references organizations,
  name text not null,
  created_at timestamptz not null default now(),
  archived_at timestamptz
);

create table workspaces (
  workspace_id uuid primary key,
  dataplane_id uuid not null references dataplanes,
  name text not null,
  created_at timestamptz not null default now(),
  archived_at timestamptz
);

create table projects (
  project_id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  created_at timestamptz not null default now(),
  archived_at timestamptz
);

-- Names are unique among active siblings (docs/decisions.md, 28).
create unique index projects_name_idx on projects (workspace_id, name) where archived_at is null;

create table api_keys (
  key_id uuid primary key,
  -- SHA-256 of the whole key value; the value itself is stored nowhere.
  key_hash bytea not null unique,
  kind text not null check (kind in ('project', 'project_read_only', 'ingestion')),
  project_id uuid not null references projects,
  name text not null,
  masked_prefix text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  revoked_at timestamptz,
  revoked_by text
);

create index api_keys_project_idx on api_keys (project_id, created_at);

-- First answers to writes that carried an Idempotency-Key (docs/decisions.md, 8).
create table idempotency_records (
  project_id uuid not null,
  route text not null,
  idempotency_key text not null,
  request_hash bytea not null,
  -- The answer as a Protobuf message, or null where the write was refused with a reason.
  response bytea,
  reason text,
  message text,
  -- JSON text: jsonb would give its keys back in another order.
  details text,
  created_at timestamptz not null default now(),
  primary key (project_id, route, idempotency_key)
);

create index idempotency_records_created_at_idx on idempotency_records (created_at);
