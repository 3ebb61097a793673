-- Changes that end cached keys and sign-ins of servers, and how far each server has read.
-- New tables only; takes no lock that anyone could wait for.

create table access_changes (
  -- Given out under one lock, so that a higher number never commits before a lower one.
  change_id bigint generated always as identity primary key,
  -- SHA-256 of the key or sign-in to forget, in hexadecimal; `*` is everything.
  subject text not null,
  changed_at timestamptz not null default now()
);

create index access_changes_changed_at_idx on access_changes (changed_at);

create table servers (
  server_id uuid primary key,
  -- Host name and process id, for the operator.
  name text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  -- Every change up to here is forgotten by this server.
  change_id bigint not null
);
