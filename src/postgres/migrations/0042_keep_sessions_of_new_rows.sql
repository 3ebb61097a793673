-- New events of a session that is deleted at the same time: the statement found the session, waited
-- for its deletion, and left events without a session. Replaces a function only; locks no table.

-- As in migration 0040, but fails (serialization_failure) if a session that existed is gone at the
-- end.
create or replace function store_new_rows(
  rows_given jsonb, stubs jsonb, totals jsonb, queued jsonb)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  missing integer;
  existing text[] := '{}';
  stub record;
  held record;
  other record;
begin
  with inserted as (
    insert into events (
      project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
      error, start_time_us, end_time_us, duration_ms,
      config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate)
    select
      (cells ->> 0)::uuid, cells ->> 1, cells ->> 2, cells ->> 3, cells ->> 4, cells ->> 5,
      cells ->> 6,
      case when cells ->> 7 is null then '{}'
        else array(select jsonb_array_elements_text(cells -> 7)) end,
      cells ->> 8, (cells ->> 9)::bigint, (cells ->> 10)::bigint, (cells ->> 11)::double precision,
      cells -> 12, cells -> 13, cells -> 14, cells -> 15, cells -> 16, cells -> 17, cells -> 18,
      nullif(cells -> 19, 'null')
    from jsonb_array_elements(rows_given) as given (cells)
    order by 1, 2
    on conflict (project_id, event_id) do nothing
    returning 1
  )
  select jsonb_array_length(rows_given) - count(*) into missing from inserted;

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
    for other in
      select project_id, array_agg(event_id) as ids
      from (
        select (cells ->> 0)::uuid as project_id, cells ->> 1 as event_id
        from jsonb_array_elements(rows_given) as listed (cells)
      ) as keys
      where project_id || ' ' || event_id <> all (existing)
      group by project_id
    loop
      perform
      from events
      where project_id = other.project_id and event_id = any (other.ids)
        and xmin <> pg_current_xact_id()::xid
      limit 1;
      if found then
        raise serialization_failure using
          message = 'an event exists and has to be merged', detail = other.project_id;
      end if;
    end loop;
    raise serialization_failure using message = 'an event existed and has to be merged';
  end if;

  perform add_to_totals(totals);
  -- The totals' lock waited for a deletion of their sessions, and lets none begin.
  for other in
    select left(key, 36)::uuid as project_id, array_agg(substr(key, 38)) as ids
    from unnest(existing) as key
    group by 1
  loop
    perform
    from events
    where project_id = other.project_id and event_id = any (other.ids)
    having count(*) < cardinality(other.ids);
    if found then
      raise serialization_failure using message = 'a session was deleted meanwhile';
    end if;
  end loop;
  if jsonb_array_length(queued) > 0 then
    perform queue_events(queued, existing);
  end if;
end $$;

-- As in migration 0040: Citus finds shards by the values of parameters.
do $$
begin
  if exists (select from pg_extension where extname = 'citus') then
    alter function store_new_rows(jsonb, jsonb, jsonb, jsonb) reset plan_cache_mode;
  end if;
end $$;
