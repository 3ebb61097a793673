-- Experiment runs, in the cluster of the project's events.
-- New table only; takes no lock that anyone could wait for.

create table runs (
  project_id uuid not null,
  run_id text not null,
  name text,
  description text,
  status text not null,
  -- JSON as text, so that keys keep their order.
  metadata text not null,
  results text not null,
  configuration text not null,
  evaluators text not null,
  passing_ranges text not null,
  event_ids text not null,
  session_ids text not null,
  datapoint_ids text not null,
  dataset_id text,
  -- Version of the dataset when the run began; absent for a dataset of the client's own.
  dataset_version integer,
  -- Parts of the report that a client gave, and what reviewers say of the results.
  report text not null default '{}',
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz,
  primary key (project_id, run_id)
);

create index runs_by_creation on runs (project_id, created_at, run_id);
