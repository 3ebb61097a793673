-- The audit log: one chain of hashes for each organization, and one for changes above all of them.
-- New tables only; takes no lock that anyone could wait for.

create table audit_log (
  -- The nil UUID for what belongs to no organization.
  org_id uuid not null,
  -- 1, 2, 3, … without a gap.
  sequence bigint not null,
  at timestamptz not null,
  actor_type text not null check (actor_type in ('key', 'user', 'operator', 'system')),
  actor_id text not null,
  actor_name text not null,
  -- For example `workspace.archive`.
  action text not null,
  scope_level text not null,
  scope_id uuid not null,
  target_type text not null,
  target_id text not null,
  -- json, not jsonb: the hash is over the text as it was written.
  before json,
  after json,
  previous_hash bytea not null,
  hash bytea not null,
  primary key (org_id, sequence)
);

-- The end of each chain. Writers lock its row, and a log cut short no longer reaches it.
create table audit_heads (
  org_id uuid primary key,
  sequence bigint not null,
  hash bytea not null
);
