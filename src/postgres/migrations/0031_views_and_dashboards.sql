-- Saved views and dashboards, in the control database. New tables only; takes no lock that anyone
-- could wait for, but a short one on charts for the foreign key.

create table views (
  view_id uuid primary key,
  project_id uuid not null references projects,
  name text not null,
  page text not null,
  is_shared boolean not null,
  -- As json, which keeps text that jsonb refuses; no statement looks inside.
  state json not null,
  owner_type text not null,
  owner_id text not null,
  owner_name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz
);

create index views_project_idx on views (project_id, name, view_id);

create table dashboards (
  dashboard_id uuid primary key,
  project_id uuid not null references projects,
  name text not null,
  description text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz
);

create index dashboards_project_idx on dashboards (project_id, name, dashboard_id);

-- A chart that is deleted leaves every dashboard by the foreign key.
create table dashboard_tiles (
  dashboard_id uuid not null references dashboards on delete cascade,
  position integer not null,
  chart_id uuid not null references charts on delete cascade,
  x integer not null,
  y integer not null,
  w integer not null,
  h integer not null,
  primary key (dashboard_id, position)
);

create index dashboard_tiles_chart_idx on dashboard_tiles (chart_id);
