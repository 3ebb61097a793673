-- Executions of experiment runs by the service, in the control database.
-- New tables only; takes no lock that anyone could wait for.

create table run_executions (
  project_id uuid not null references projects,
  run_id text not null,
  -- Counts the workflows that ran it: one more each time it is resumed.
  turn integer not null default 1,
  -- Workflow of that turn.
  workflow_id text not null,
  state text not null check (state in
    ('running', 'scoring', 'completed', 'cancelling', 'cancelled', 'failed')),
  -- JSON as text: the configuration as it was at the start, and what the run changes in it.
  model text not null,
  dataset_id uuid not null,
  dataset_version integer not null,
  concurrency integer not null,
  -- Number of datapoints of the version.
  datapoints integer not null,
  -- Position in the dataset up to which all datapoints have a result.
  after_position bigint not null default 0,
  -- When it last got on.
  moved_at timestamptz not null default clock_timestamp(),
  error text,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (project_id, run_id)
);

-- Small, because it holds only executions that have not ended.
create index run_executions_open_idx on run_executions (moved_at) where ended_at is null;

create table run_execution_results (
  project_id uuid not null,
  run_id text not null,
  datapoint_id uuid not null,
  -- Counts the tries that ended; the model event's id is derived from it.
  attempt integer not null default 1,
  -- `again`: it failed, and the next turn tries it again.
  state text not null check (state in ('done', 'failed', 'again')),
  -- US dollars; null if the price is unknown.
  cost double precision,
  error text,
  primary key (project_id, run_id, datapoint_id),
  foreign key (project_id, run_id) references run_executions on delete cascade
);
