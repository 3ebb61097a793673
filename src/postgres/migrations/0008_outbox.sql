-- Workflows to start, written in the transaction of the change that asks for them.
-- New table only; takes no lock that anyone could wait for.

create table outbox (
  outbox_id bigint generated always as identity primary key,
  -- Says what a second start of the same work is: it is refused by Temporal.
  workflow_id text not null unique,
  workflow_type text not null,
  input json not null,
  -- Search attributes for the operator who watches Temporal.
  org_id uuid not null,
  scope_id uuid not null,
  actor text not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  attempts integer not null default 0,
  -- Time of the next attempt after a failed one.
  due_at timestamptz not null default now(),
  last_error text
);

create index outbox_waiting_idx on outbox (due_at) where started_at is null;
-- Entries are deleted some time after their start.
create index outbox_started_idx on outbox (started_at) where started_at is not null;
