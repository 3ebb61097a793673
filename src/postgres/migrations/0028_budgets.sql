-- Budgets in the control database, and their spend in the cluster of the project's events, where
-- the events of the calls are. New tables only; takes no lock that anyone could wait
-- for.

create table budgets (
  budget_id uuid primary key,
  project_id uuid not null references projects,
  -- The key whose calls count; null for all calls of the project.
  key_id uuid,
  -- US dollars.
  amount double precision not null check (amount > 0),
  period text not null check (period in ('DAY', 'MONTH')),
  is_active boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  updated_at timestamptz
);

create unique index budgets_project_idx
  on budgets (project_id, period, coalesce(key_id, '00000000-0000-0000-0000-000000000000'));

create table budget_spend (
  project_id uuid not null,
  budget_id uuid not null,
  period_start timestamptz not null,
  -- US dollars.
  cost numeric not null,
  calls integer not null,
  unpriced integer not null,
  -- The share of the amount that was told of last, in percent: 0, 80 or 100; and that amount.
  told integer not null default 0,
  told_amount double precision,
  primary key (project_id, budget_id, period_start)
);
