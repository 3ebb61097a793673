-- Events of archived projects, moved out of the way of everyone's indexes.
-- New tables only; takes no lock that anyone could wait for.

create table archived_events (
  project_id uuid not null,
  event_id text not null,
  session_id text not null,
  event_type text not null,
  event_name text not null,
  source text not null,
  parent_id text,
  children_ids text[] not null,
  error text,
  start_time_us bigint not null,
  end_time_us bigint,
  duration_ms double precision,
  config jsonb not null,
  inputs jsonb not null,
  outputs jsonb not null,
  metadata jsonb not null,
  metrics jsonb not null,
  feedback jsonb not null,
  user_properties jsonb not null,
  archived_at timestamptz not null default now(),
  primary key (project_id, event_id)
) partition by hash (project_id);

do $$
begin
  for i in 0..7 loop
    execute format(
      'create table archived_events_%s partition of archived_events '
      'for values with (modulus 8, remainder %s)', i, i);
    execute format('alter table archived_events_%s set (toast_tuple_target = 8160)', i);
  end loop;
end $$;
