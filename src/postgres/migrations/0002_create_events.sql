-- Events, session totals and the field catalogue: everything a project's traces are stored in.
-- On an empty database; takes no lock that anyone could wait for.

-- Sessions are events of type 'session' whose event_id is their session_id. A row of type 'pending'
-- holds an update that came before its event: no reader sees it (docs/decisions.md, 6). Times are
-- Unix microseconds.
create table events (
  project_id uuid not null,
  event_id text not null,
  session_id text not null,
  event_type text not null,
  event_name text not null,
  source text not null,
  parent_id text,
  children_ids text[] not null default '{}',
  error text,
  start_time_us bigint not null,
  end_time_us bigint,
  duration_ms double precision,
  config jsonb not null default '{}',
  inputs jsonb not null default '{}',
  outputs jsonb not null default '{}',
  metadata jsonb not null default '{}',
  metrics jsonb not null default '{}',
  feedback jsonb not null default '{}',
  user_properties jsonb not null default '{}',
  -- The model by its name, which is what events are asked for most; a longer text is not a name and
  -- would not fit into an index.
  model text generated always as (
    case when jsonb_typeof(config -> 'model') = 'string' and length(config ->> 'model') <= 256
      then config ->> 'model' end) stored,
  primary key (project_id, event_id)
) partition by hash (project_id);

-- Eight partitions keep indexes small where several projects share a database.
do $$
begin
  for i in 0..7 loop
    execute format(
      'create table events_%s partition of events for values with (modulus 8, remainder %s)', i, i);
    -- A fuller page before compression starts: compressing cost a sixth of ingestion when measured.
    -- Room on each page for a session to be widened in place, without touching an index.
    execute format(
      'alter table events_%s set (toast_tuple_target = 8160, fillfactor = 95)', i);
  end loop;
end $$;

create index events_session_idx on events (project_id, session_id, start_time_us);
-- With the type inside, counting a project's events reads the index only: 36 ms in place of 400 ms
-- for 250,000 events of 2 KB, since `pending` rows are told apart without the table.
create index events_start_time_idx on events (project_id, start_time_us desc, event_id desc)
  include (event_type);
create index events_sessions_idx on events (project_id, start_time_us desc, event_id desc)
  where event_type = 'session';
-- Finds and counts a model's events without reading them.
create index events_model_idx on events (project_id, model, start_time_us desc, event_id desc)
  include (event_type) where model is not null;
-- People often search for errors; few events have one, so the index costs little.
create index events_errors_idx on events (project_id, start_time_us desc, event_id desc)
  where error is not null;
create index events_metadata_idx on events using gin (metadata jsonb_path_ops);

-- Sums over a session's events, kept by every write in its own transaction, so that reading them
-- and appending to a long session cost the same as for a short one (docs/decisions.md, 18).
create table session_totals (
  project_id uuid not null,
  session_id text not null,
  num_events integer not null,
  num_model_events integer not null,
  num_errors integer not null,
  num_costs integer not null,
  num_feedback integer not null,
  -- Decimals, whose sums do not depend on the order of the events.
  prompt_tokens numeric not null,
  completion_tokens numeric not null,
  total_tokens numeric not null,
  cost numeric not null,
  primary key (project_id, session_id)
) with (fillfactor = 50);

-- Every (event type, field path) a project's events carry, with the types of its values as bits.
create table event_fields (
  project_id uuid not null,
  event_type text not null,
  field text not null,
  types integer not null,
  primary key (project_id, event_type, field)
);
