-- Alerts and notifications, in the control database. New tables only; takes no lock that anyone
-- could wait for.

-- Targets of the notifications of one alert, or of one budget.
create table notification_targets (
  owner_id uuid primary key,
  project_id uuid not null references projects,
  -- {"critical": target, "resolved": target}, without secrets.
  targets json not null,
  -- The secret that signs webhooks, and the URLs.
  sealed bytea,
  encryption_key_id text,
  check ((sealed is null) = (encryption_key_id is null))
);

create table notifications (
  notification_id uuid primary key,
  project_id uuid not null references projects,
  owner_id uuid not null references notification_targets on delete cascade,
  -- Which of the targets.
  role text not null check (role in ('critical', 'resolved')),
  type text not null,
  channel text not null,
  title text not null,
  body text not null,
  data json not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  -- [{"atMs": Unix milliseconds, "error": text or null}]
  attempts json not null default '[]',
  created_at timestamptz not null default clock_timestamp(),
  delivered_at timestamptz
);

create index notifications_owner_idx
  on notifications (project_id, owner_id, created_at, notification_id);

create table alerts (
  alert_id uuid primary key,
  project_id uuid not null references projects,
  name text not null,
  description text,
  kind text not null check (kind in ('AGGREGATE', 'PER_EVENT', 'DRIFT')),
  aggregation text not null,
  filters json not null,
  projections json not null,
  -- {"operator", "value"}
  critical json not null,
  resolved json,
  frequency text not null check (frequency in ('HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY')),
  sample_size_min integer not null,
  is_active boolean not null,
  is_muted boolean not null,
  -- Increases with each change of the measure or the threshold.
  revision integer not null default 1,
  condition text not null check (condition in ('active', 'triggered', 'resolved')),
  -- End of the next period to be checked.
  due_at timestamptz not null,
  last_window_end timestamptz,
  last_triggered_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  updated_at timestamptz
);

create index alerts_project_idx on alerts (project_id, created_at, alert_id);
create index alerts_due_idx on alerts (due_at) where is_active;

create table alert_evaluations (
  project_id uuid not null,
  alert_id uuid not null references alerts on delete cascade,
  window_start timestamptz not null,
  window_end timestamptz not null,
  evaluated_at timestamptz not null default clock_timestamp(),
  outcome text not null,
  sample_size integer not null,
  values json not null,
  error text,
  condition text not null,
  primary key (project_id, alert_id, window_end)
);
