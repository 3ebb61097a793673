-- Retention: the days in the control database, the reports in the cluster of the project's events,
-- where they commit with the deletions. New tables only; takes no lock that anyone could wait for.

create table retentions (
  project_id uuid primary key references projects,
  days integer not null check (days > 0),
  -- Time from which the next run is due.
  due_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null
);

create index retentions_due_idx on retentions (due_at);

create table retention_runs (
  run_id uuid primary key,
  project_id uuid not null,
  state text not null check (state in ('running', 'completed')),
  cutoff timestamptz not null,
  -- Start and id of the last session that was looked at.
  after_us bigint,
  after_id text,
  batches integer not null default 0,
  sessions integer not null default 0,
  events integer not null default 0,
  scores integer not null default 0,
  annotation_items integer not null default 0,
  annotation_scores integer not null default 0,
  feedback integer not null default 0,
  skipped_sessions integer not null default 0,
  files text[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);

create index retention_runs_project_idx on retention_runs (project_id, created_at, run_id);
