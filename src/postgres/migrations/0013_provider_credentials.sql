-- How tenants reach the providers of models, with encrypted secrets; and names for lists of models.
-- New tables only; takes no lock that anyone could wait for.

create table provider_credentials (
  credential_id uuid primary key,
  -- They belong to the one of org_id, workspace_id and project_id that is set.
  org_id uuid references organizations,
  workspace_id uuid references workspaces,
  project_id uuid references projects,
  name text not null,
  provider text not null,
  base_url text,
  resource_name text,
  api_version text,
  region text,
  -- Names of the secrets inside `sealed`, in order.
  secret_names text[] not null,
  -- AES-256-GCM: nonce, tag and ciphertext of the secrets as JSON; null where there are none.
  sealed bytea,
  -- Which key of the configuration opens it.
  encryption_key_id text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz not null default now(),
  constraint provider_credentials_scope_check
    check (num_nonnulls(org_id, workspace_id, project_id) = 1),
  constraint provider_credentials_sealed_check
    check ((sealed is null) = (encryption_key_id is null))
);

create unique index provider_credentials_org_name_idx on provider_credentials (org_id, name)
  where org_id is not null;
create unique index provider_credentials_workspace_name_idx
  on provider_credentials (workspace_id, name) where workspace_id is not null;
create unique index provider_credentials_project_name_idx
  on provider_credentials (project_id, name) where project_id is not null;

create table model_aliases (
  alias_id uuid primary key,
  -- It belongs to the one of org_id, workspace_id and project_id that is set.
  org_id uuid references organizations,
  workspace_id uuid references workspaces,
  project_id uuid references projects,
  name text not null,
  targets text[] not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  constraint model_aliases_scope_check check (num_nonnulls(org_id, workspace_id, project_id) = 1)
);

create unique index model_aliases_org_name_idx on model_aliases (org_id, name)
  where org_id is not null;
create unique index model_aliases_workspace_name_idx on model_aliases (workspace_id, name)
  where workspace_id is not null;
create unique index model_aliases_project_name_idx on model_aliases (project_id, name)
  where project_id is not null;
