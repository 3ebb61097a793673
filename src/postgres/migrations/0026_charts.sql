-- Stored charts, in the control database. A new table only; takes no lock that anyone could wait
-- for.

create table charts (
  chart_id uuid primary key,
  project_id uuid not null references projects,
  name text not null,
  metric text not null,
  description text,
  aggregation text,
  group_by text,
  bucket_unit text not null,
  -- As json, which keeps text that jsonb refuses; no statement looks inside.
  date_range json,
  filters json not null,
  owner_id text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz
);

create index charts_project_idx on charts (project_id, created_at, chart_id);
