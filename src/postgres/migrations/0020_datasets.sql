-- Datasets and their datapoints, in the cluster of the project's events.
-- New tables only; takes no lock that anyone could wait for.

create table datasets (
  project_id uuid not null,
  dataset_id uuid not null,
  name text not null,
  description text,
  -- Fields that only older clients send and read: type, saved, pipeline_type, linked_evals, metadata.
  properties jsonb not null default '{}',
  -- Number of the current version; each change of the datapoints makes one.
  version integer not null default 1,
  -- Number of datapoints in the current version.
  datapoints integer not null default 0,
  -- Position of the next datapoint.
  next_position bigint not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz,
  primary key (project_id, dataset_id)
);

create index datasets_by_creation on datasets (project_id, created_at, dataset_id);
create index datasets_by_name on datasets (project_id, name);

create table dataset_versions (
  project_id uuid not null,
  dataset_id uuid not null,
  version integer not null,
  added integer not null default 0,
  changed integer not null default 0,
  removed integer not null default 0,
  datapoints integer not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, dataset_id, version)
);

-- One row for each revision of a datapoint. Older revisions stay while a version of a dataset has them.
create table datapoints (
  project_id uuid not null,
  datapoint_id uuid not null,
  revision integer not null,
  is_current boolean not null,
  -- JSON as text, so that keys keep their order.
  inputs text not null,
  history text not null,
  ground_truth text,
  metadata text,
  linked_event text,
  -- Bytes of the texts.
  bytes integer not null,
  -- Time of the first revision.
  created_at timestamptz not null,
  -- Absent in the first revision.
  updated_at timestamptz,
  primary key (project_id, datapoint_id, revision)
);

create unique index datapoints_current on datapoints (project_id, datapoint_id) where is_current;
create index datapoints_by_creation on datapoints (project_id, created_at, datapoint_id)
  where is_current;

-- A revision is in the versions of a dataset from added_in to before removed_in.
create table dataset_datapoints (
  project_id uuid not null,
  dataset_id uuid not null,
  position bigint not null,
  added_in integer not null,
  removed_in integer,
  datapoint_id uuid not null,
  revision integer not null,
  primary key (project_id, dataset_id, position, added_in)
);

create index dataset_datapoints_by_datapoint
  on dataset_datapoints (project_id, datapoint_id, revision);
