-- An event of type session inside another session is a part of that one, and no session itself
-- (docs/decisions.md, 38). Replaces a function only; locks no table.

-- Stores new events, the sessions they name (rows with `is_stub`) unless these exist, the times of
-- existing sessions, and totals. Fails (serialization_failure), and so stores nothing, if an event
-- exists, or if a session has to be changed in more than its times.
--
-- Plans fit any project: for a project that is not in the statistics Postgres expects one row, and
-- reads all events of the project for each key.
create or replace function store_new_events(events_given jsonb, totals jsonb) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  inserted text[];
  stub record;
  held record;
begin
  with rows_inserted as (
    insert into events (
      project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
      error, start_time_us, end_time_us, duration_ms,
      config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate)
    select
      project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
      error, start_time_us, end_time_us, duration_ms,
      config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate
    from jsonb_to_recordset(events_given) as given (
      project_id uuid, event_id text, session_id text, event_type text, event_name text,
      source text, parent_id text, children_ids text[], error text, start_time_us bigint,
      end_time_us bigint, duration_ms double precision, config jsonb, inputs jsonb, outputs jsonb,
      metadata jsonb, metrics jsonb, feedback jsonb, user_properties jsonb, cost_estimate jsonb)
    order by project_id, event_id
    on conflict (project_id, event_id) do nothing
    returning project_id || ' ' || event_id as key)
  select array_agg(key) into inserted from rows_inserted;

  if coalesce(cardinality(inserted), 0) < jsonb_array_length(events_given) then
    -- In the order of every writer, against deadlocks.
    for stub in
      select project_id, event_id, event_name, start_time_us, end_time_us, is_stub
      from jsonb_to_recordset(events_given) as given (
        project_id uuid, event_id text, event_name text, start_time_us bigint, end_time_us bigint,
        is_stub boolean)
      where project_id || ' ' || event_id = any (inserted) is not true
      order by project_id, event_id
    loop
      select event_type, session_id, event_name, start_time_us, end_time_us into held
      from events
      where project_id = stub.project_id and event_id = stub.event_id;
      if stub.is_stub is not true or held.event_type is distinct from 'session'
        or held.session_id <> stub.event_id
        or (held.event_name = 'unknown' and stub.event_name <> 'unknown') then
        raise serialization_failure using
          message = 'an event exists and has to be merged', detail = stub.project_id;
      end if;
      if held.start_time_us > stub.start_time_us
        or held.end_time_us is null or held.end_time_us < stub.end_time_us then
        update events set
          start_time_us = least(start_time_us, stub.start_time_us),
          end_time_us = greatest(end_time_us, stub.end_time_us)
        where project_id = stub.project_id and event_id = stub.event_id;
      end if;
    end loop;
  end if;

  perform add_to_totals(totals);
end $$;
