-- Evaluators, their versions and backfills: what people define. In the control database.
-- New tables only; takes no lock that anyone could wait for.

create table evaluators (
  evaluator_id uuid primary key,
  project_id uuid not null references projects,
  -- Name in the deployed version; the key of its scores in an event's `metrics`.
  name text not null,
  deployed_version integer not null,
  last_version integer not null,
  -- Whether the deployed version runs on new events.
  is_enabled boolean not null,
  -- Counts the times that it was enabled, deployed or restored: failures in a row count afresh in each.
  enablement integer not null default 0,
  -- Why the service disabled it; null where it did not.
  disabled_reason text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  -- When it was last enabled.
  enabled_at timestamptz,
  deleted_at timestamptz
);

create unique index evaluators_name_idx on evaluators (project_id, name)
  where deleted_at is null;
create index evaluators_enabled_idx on evaluators (project_id)
  where is_enabled and deleted_at is null;

create table evaluator_versions (
  evaluator_id uuid not null references evaluators,
  version integer not null,
  -- The definition, with the names of the API.
  content jsonb not null,
  -- SHA-256 of the content in hexadecimal.
  full_sha text not null,
  message text not null,
  -- Found by parsing the code or prompt.
  reads_ground_truth boolean not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (evaluator_id, version)
);

create table evaluator_backfills (
  backfill_id uuid primary key,
  project_id uuid not null references projects,
  evaluator_id uuid not null references evaluators,
  version integer not null,
  -- [{field, operator, value, type}], beside those of the metric.
  filters jsonb not null,
  -- Start times in microseconds: from_us included, to_us excluded; null means no bound.
  from_us bigint,
  to_us bigint,
  include_failed boolean not null,
  state text not null check (state in
    ('running', 'pausing', 'paused', 'completed', 'cancelling', 'cancelled', 'failed')),
  -- Counts the workflows that ran it: one more each time it is resumed.
  run integer not null default 1,
  -- Workflow of that run.
  workflow_id text not null,
  matched integer not null,
  -- The next chunk begins after this event, going back in time; null at the start.
  after_us bigint,
  after_event_id text,
  -- When it last got on.
  moved_at timestamptz not null default now(),
  error text,
  created_at timestamptz not null default now(),
  created_by text not null,
  ended_at timestamptz
);

create index evaluator_backfills_list_idx
  on evaluator_backfills (evaluator_id, created_at desc, backfill_id desc);
-- One at a time for an evaluator.
create unique index evaluator_backfills_open_idx on evaluator_backfills (evaluator_id)
  where ended_at is null;
