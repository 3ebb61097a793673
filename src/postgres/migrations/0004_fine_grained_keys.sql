-- Keys of every kind: rooted at an organization, a workspace or a project, with permissions and an
-- expiry where they are fine-grained; the policy of an organization's keys.
-- The constraint is checked over api_keys, a small table: a lock of milliseconds.

alter table api_keys drop constraint api_keys_kind_check;
alter table api_keys
  add constraint api_keys_kind_check check (
    kind in ('project', 'project_read_only', 'ingestion', 'data_plane', 'control_plane')),
  alter column project_id drop not null,
  -- A key is rooted at the one of org_id, workspace_id and project_id that is set.
  add org_id uuid references organizations,
  add workspace_id uuid references workspaces,
  add description text,
  -- Null on classic and ingestion keys, whose kind says what they may do.
  add permissions text[],
  -- Null on classic and ingestion keys, which do not expire (docs/decisions.md, 32).
  add expires_at timestamptz,
  add last_used_at timestamptz,
  -- Keys created by a key can never create keys.
  add created_by_key boolean not null default false,
  -- Position in access_changes that says the key is revoked, and when the last server had read it.
  add revocation_change_id bigint,
  add revocation_confirmed_at timestamptz,
  add constraint api_keys_root_check check (num_nonnulls(org_id, workspace_id, project_id) = 1),
  add constraint api_keys_fine_grained_check check (
    (kind in ('data_plane', 'control_plane'))
    = (permissions is not null and expires_at is not null));

create index api_keys_org_idx on api_keys (org_id, created_at) where org_id is not null;
create index api_keys_workspace_idx on api_keys (workspace_id, created_at)
  where workspace_id is not null;

-- Which permissions the fine-grained keys of an organization may carry; all, where it has no row.
create table api_key_policies (
  org_id uuid primary key references organizations,
  permissions text[] not null,
  updated_at timestamptz not null default now(),
  updated_by text not null
);
