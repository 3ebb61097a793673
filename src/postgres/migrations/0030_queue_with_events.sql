-- The one-statement writes of migrations 0018 and 0019 for projects with evaluators too: the rows of
-- the evaluation queue are a part of the statement. New functions only; locks no table.

-- Adds rows to the evaluation queue, without the sessions that are in `existing`, as project and id.
create function queue_events(queued jsonb, existing text[]) returns void
language plpgsql
as $$
begin
  insert into evaluation_queue (project_id, queue_id, event_ids)
  select given.project_id, given.queue_id, waiting.event_ids
  from jsonb_to_recordset(queued) as given (project_id uuid, queue_id uuid, event_ids text[])
  cross join lateral (
    select array_agg(event_id) as event_ids
    from unnest(given.event_ids) as event_id
    where given.project_id || ' ' || event_id <> all (existing)
  ) as waiting
  where waiting.event_ids is not null;
end $$;

-- As store_new_events(events_given, totals), and adds `queued` to the evaluation queue, without
-- sessions that existed. `stubs` repeats the keys, names and times of the sessions that the events
-- name, so that only these are read again. A row whose xmin is another transaction's existed.
create function store_new_events(events_given jsonb, stubs jsonb, totals jsonb, queued jsonb)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  missing integer;
  existing text[] := '{}';
  stub record;
  held record;
begin
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
  on conflict (project_id, event_id) do nothing;
  get diagnostics missing = row_count;
  missing := jsonb_array_length(events_given) - missing;

  if missing > 0 then
    -- In the order of every writer, against deadlocks.
    for stub in
      select project_id, event_id, event_name, start_time_us, end_time_us
      from jsonb_to_recordset(stubs) as given (
        project_id uuid, event_id text, event_name text, start_time_us bigint, end_time_us bigint)
      order by project_id, event_id
    loop
      select event_type, session_id, event_name, start_time_us, end_time_us into held
      from events
      where project_id = stub.project_id and event_id = stub.event_id
        and xmin <> pg_current_xact_id()::xid;
      continue when not found;
      exit when held.event_type <> 'session' or held.session_id <> stub.event_id
        or (held.event_name = 'unknown' and stub.event_name <> 'unknown');
      missing := missing - 1;
      existing := existing || (stub.project_id || ' ' || stub.event_id);
      if held.start_time_us > stub.start_time_us
        or held.end_time_us is null or held.end_time_us < stub.end_time_us then
        update events set
          start_time_us = least(start_time_us, stub.start_time_us),
          end_time_us = greatest(end_time_us, stub.end_time_us)
        where project_id = stub.project_id and event_id = stub.event_id;
      end if;
    end loop;
  end if;
  if missing > 0 then
    select given.project_id into held
    from jsonb_to_recordset(events_given) as given (project_id uuid, event_id text)
    cross join lateral (
      select 1
      from events
      where events.project_id = given.project_id and events.event_id = given.event_id
        and events.xmin <> pg_current_xact_id()::xid
      limit 1
    ) as other
    where given.project_id || ' ' || given.event_id <> all (existing)
    limit 1;
    raise serialization_failure using
      message = 'an event exists and has to be merged', detail = coalesce(held.project_id::text, '');
  end if;

  perform add_to_totals(totals);
  if jsonb_array_length(queued) > 0 then
    perform queue_events(queued, existing);
  end if;
end $$;

-- As merge_events(events_given, totals), and adds `queued` to the evaluation queue.
create function merge_events(events_given jsonb, totals jsonb, queued jsonb) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  perform merge_events(events_given, totals);
  if jsonb_array_length(queued) > 0 then
    perform queue_events(queued, '{}');
  end if;
end $$;
