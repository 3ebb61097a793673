-- Counts of the calls that write events, by project and hour, in the control database.
-- A new table only; takes no lock that anyone could wait for.

create table ingestion_counts (
  project_id uuid not null,
  hour timestamptz not null,
  actor_type text not null,
  actor_id text not null,
  rpc text not null,
  -- OK, CANCELED or the reason of the error (base/errors.ts).
  reason text not null,
  -- Name of the actor at its last call.
  actor_name text not null,
  calls bigint not null,
  stored bigint not null,
  rejected bigint not null,
  last_at timestamptz not null,
  -- What the last refusal said, masked.
  message text,
  primary key (project_id, hour, actor_type, actor_id, rpc, reason)
);

-- For the deletion of old hours.
create index ingestion_counts_hour_idx on ingestion_counts (hour);
