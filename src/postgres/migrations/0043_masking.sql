-- Masking rules of projects, in the control database: they change as a whole, so they are one value.
-- A new table only; takes no lock that anyone could wait for.

create table maskings (
  project_id uuid primary key references projects,
  -- Rules as the service reads them (tracing/masking/rules.ts).
  rules jsonb not null,
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null
);
