-- Columns of the control plane on scopes, and people with their memberships.
-- Columns with constant defaults and indexes on small tables: locks of milliseconds.

alter table organizations add updated_at timestamptz not null default now();
alter table dataplanes
  -- Names one of the configured clusters, which holds the data plane's events
  -- (docs/decisions.md, 30).
  add cluster_id text not null default 'default',
  add updated_at timestamptz not null default now();
alter table workspaces
  add description text,
  add updated_at timestamptz not null default now();
alter table projects
  add description text,
  add updated_at timestamptz not null default now();

-- Names are unique among active siblings (docs/decisions.md, 28). Where an earlier release made two
-- of one name, the younger gets its id behind it.
update dataplanes set name = left(name, 200) || ' ' || dataplane_id
where archived_at is null and exists (
  select 1 from dataplanes as older
  where older.org_id = dataplanes.org_id and older.name = dataplanes.name
    and older.archived_at is null
    and (older.created_at, older.dataplane_id) < (dataplanes.created_at, dataplanes.dataplane_id));
update workspaces set name = left(name, 200) || ' ' || workspace_id
where archived_at is null and exists (
  select 1 from workspaces as older
  where older.dataplane_id = workspaces.dataplane_id and older.name = workspaces.name
    and older.archived_at is null
    and (older.created_at, older.workspace_id) < (workspaces.created_at, workspaces.workspace_id));
update organizations set name = left(name, 200) || ' ' || org_id
where archived_at is null and exists (
  select 1 from organizations as older
  where older.name = organizations.name
    and older.archived_at is null
    and (older.created_at, older.org_id) < (organizations.created_at, organizations.org_id));
create unique index organizations_name_idx on organizations (name) where archived_at is null;
create unique index dataplanes_name_idx on dataplanes (org_id, name) where archived_at is null;
create unique index workspaces_name_idx on workspaces (dataplane_id, name)
  where archived_at is null;

create table users (
  user_id uuid primary key,
  -- Lower case.
  email text not null unique,
  name text,
  -- Who the identity provider says it is, from the first sign-in on.
  issuer text,
  subject text,
  created_at timestamptz not null default now(),
  last_sign_in_at timestamptz,
  unique (issuer, subject)
);

create table memberships (
  user_id uuid not null references users,
  level text not null check (level in ('system', 'org', 'dataplane', 'workspace', 'project')),
  -- The nil UUID at level system.
  scope_id uuid not null,
  -- Name of a role of the manifest.
  role text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz not null default now(),
  primary key (user_id, level, scope_id)
);

create index memberships_scope_idx on memberships (level, scope_id, created_at, user_id);
