-- Tests of targets by project, in the control database: their number in an hour is limited, also when
-- the alert or budget is deleted. A new table only; takes no lock that anyone could wait for.

create table test_notifications (
  project_id uuid not null references projects,
  at timestamptz not null default clock_timestamp()
);

create index test_notifications_project_idx on test_notifications (project_id, at);
