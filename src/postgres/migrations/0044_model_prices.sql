-- Prices of models that an organization, workspace or project sets, in the control database.
-- A new table only; takes no lock that anyone could wait for.

create table model_prices (
  price_id uuid primary key,
  -- It belongs to the one of org_id, workspace_id and project_id that is set.
  org_id uuid references organizations,
  workspace_id uuid references workspaces,
  project_id uuid references projects,
  -- In lower case, because names are equal in any case of letters.
  name text not null,
  -- US dollars per million tokens by kind of token (generation/prices/own-prices.ts).
  rates jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  constraint model_prices_scope_check check (num_nonnulls(org_id, workspace_id, project_id) = 1)
);

create unique index model_prices_org_name_idx on model_prices (org_id, name)
  where org_id is not null;
create unique index model_prices_workspace_name_idx on model_prices (workspace_id, name)
  where workspace_id is not null;
create unique index model_prices_project_name_idx on model_prices (project_id, name)
  where project_id is not null;
