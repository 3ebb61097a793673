-- Project data without what Citus refuses: triggers on events, a sequence, a key without the
-- project. Where Citus is present, distributes its tables, which locks them while their rows move;
-- elsewhere locks are held for an instant, once the writers of events have committed.

-- Scores, and what belongs to annotation queues, go with their event: statements that delete
-- events call this afterwards, in the same transaction. A writer of a score holds its event, so a
-- statement after the deletion sees every score of the event. The release before calls nothing:
-- events that it deletes after this migration leave their scores behind.
create function delete_what_events_had(project uuid, event_ids text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  delete from scores as held
  where held.project_id = project and held.event_id = any (event_ids);
  delete from annotation_items as held
  where held.project_id = project and held.event_id = any (event_ids);
  delete from annotation_reviews as held
  where held.project_id = project and held.event_id = any (event_ids);
  delete from annotation_scores as held
  where held.project_id = project and held.event_id = any (event_ids);
end $$;

drop trigger events_scores_go on events;
drop trigger events_annotations_go on events;
drop function delete_scores_of_events();
drop function delete_annotations_of_events();

-- Positions are times in microseconds, later than those that a sequence gave. The default serves
-- the release before, which gives none.
alter table annotation_items alter column position drop identity;
alter table annotation_items alter column position
  set default (extract(epoch from clock_timestamp()) * 1000000)::bigint;

alter table retention_runs drop constraint retention_runs_pkey;
alter table retention_runs add primary key (project_id, run_id);

-- Marks one hour (migration 0034). Skips rows that other transactions hold, so that no writer
-- waits and none deadlocks. Citus takes no random number inside an update.
create function mark_hour(project uuid, marked_hour integer) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  renewed bigint := floor(random() * 9007199254740991)::bigint;
  free_slot bigint;
begin
  select slot into free_slot
  from chart_marks
  where project_id = project and hour = marked_hour
  limit 1
  for no key update skip locked;
  if found then
    update chart_marks set version = renewed
    where project_id = project and hour = marked_hour and slot = free_slot;
  else
    insert into chart_marks (project_id, hour, slot, version)
    values (project, marked_hour, floor(random() * 9007199254740991)::bigint, renewed);
  end if;
end $$;

-- As in migration 0035. Commits seldom change past hours, and setting the kind of plan takes
-- longer than finding that out.
create or replace function mark_past_hours(
  project_ids uuid[], hours integer[], unmarked_ms integer)
returns void
language plpgsql
as $$
declare
  end_hour integer := floor(
    (extract(epoch from statement_timestamp()) - unmarked_ms / 1000) / 3600)::integer;
begin
  for i in 1 .. cardinality(hours) loop
    if hours[i] < end_hour then
      perform mark_hour(project_ids[i], hours[i]);
    end if;
  end loop;
end $$;

-- Makes Postgres plan the transaction's statements for any project (tracing/events/store.ts).
create function plan_for_any_project() returns void
language plpgsql
as $$
begin
  perform set_config('plan_cache_mode', 'force_generic_plan', true);
end $$;

-- As in migration 0037, but told by `returning` how many rows were inserted: Citus counts those
-- that were given. Citus also wants a statement for each project to find one that existed.
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
  if jsonb_array_length(queued) > 0 then
    perform queue_events(queued, existing);
  end if;
end $$;

-- Events by their ids, with a plan that fits any project (migration 0018).
create function find_events(project uuid, ids text[])
returns table (event_id text, session_id text, event_type text, source text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select held.event_id, held.session_id, held.event_type, held.source
    from events as held
    where held.project_id = project and held.event_id = any (ids);
end $$;

-- Projects with rows in the evaluation queue, after a project, in the order of their ids. A loop,
-- since Citus refuses recursive queries: one index step per project, however long the queue is.
create function list_queued_projects(after uuid, count_max integer) returns setof uuid
language plpgsql stable
as $$
declare
  project uuid := after;
begin
  for i in 1 .. count_max loop
    select project_id into project
    from evaluation_queue
    where project_id > project
    order by project_id
    limit 1;
    exit when not found;
    return next project;
  end loop;
end $$;

-- Versions with waiting runs, in projects after a project, with the time of the longest waiting
-- run.
create function list_waiting_versions(after uuid, count_max integer)
returns table (project uuid, evaluator uuid, number integer, since timestamptz)
language plpgsql stable
as $$
begin
  select project_id, evaluator_id, version, queued_at into project, evaluator, number, since
  from scores
  where state = 'queued' and project_id > after
  order by project_id, evaluator_id, version, queued_at
  limit 1;
  for i in 1 .. count_max loop
    exit when not found;
    return next;
    select project_id, evaluator_id, version, queued_at into project, evaluator, number, since
    from scores
    where state = 'queued'
      and (project_id, evaluator_id, version) > (project, evaluator, number)
    order by project_id, evaluator_id, version, queued_at
    limit 1;
  end loop;
end $$;

-- Number of projects with events, totals of sessions or fields. The order makes Postgres look up
-- each project by the primary keys, whatever its statistics say.
create function count_unfinished(project_ids uuid[]) returns integer
language plpgsql stable
as $$
declare
  project uuid;
  unfinished integer := 0;
begin
  foreach project in array project_ids loop
    perform from events where project_id = project order by event_id limit 1;
    if not found then
      perform from session_totals where project_id = project order by session_id limit 1;
    end if;
    if not found then
      perform from event_fields where project_id = project order by event_type, field limit 1;
    end if;
    unfinished := unfinished + found::integer;
  end loop;
  return unfinished;
end $$;

-- Numbers of unmoved and of moved events of projects, at most `count_max` each.
create function count_some_events(project_ids uuid[], count_max integer)
returns table (unmoved integer, moved integer)
language plpgsql stable
as $$
declare
  project uuid;
  counted integer;
begin
  unmoved := 0;
  moved := 0;
  foreach project in array project_ids loop
    select count(*) into counted
    from (
      select
      from events
      where project_id = project
      order by event_id
      limit count_max - unmoved
    ) as first_ones;
    unmoved := unmoved + counted;
    select count(*) into counted
    from (
      select
      from archived_events
      where project_id = project
      order by event_id
      limit count_max - moved
    ) as first_ones;
    moved := moved + counted;
  end loop;
  return next;
end $$;

-- Distributes a table of project data where Citus is present, its rows beside those of events of
-- the same project. Migrations that create such a table call this.
create function distribute_by_project(name text) returns void
language plpgsql
as $$
begin
  if not exists (select from pg_extension where extname = 'citus') then
    return;
  end if;
  perform create_distributed_table(
    name::regclass, 'project_id',
    colocate_with => case name when 'events' then 'none' else 'events' end);
end $$;

select distribute_by_project(name)
from unnest(array[
  'events', 'session_totals', 'event_fields', 'archived_events', 'idempotency_records', 'feedback',
  'evaluation_queue', 'scores', 'evaluation_chunks', 'evaluator_streaks',
  'datasets', 'dataset_versions', 'datapoints', 'dataset_datapoints', 'runs',
  'annotation_items', 'annotation_reviews', 'annotation_scores', 'annotation_overflows',
  'budget_spend', 'retention_runs', 'chart_marks'
]) as name;

-- Citus finds the shards of most statements by the values of their parameters, which a plan for
-- any project does not know.
do $$
declare
  planned regprocedure;
begin
  if not exists (select from pg_extension where extname = 'citus') then
    return;
  end if;
  create or replace function plan_for_any_project() returns void
  language plpgsql
  as 'begin end';
  for planned in
    select oid::regprocedure
    from pg_proc
    where pronamespace = current_schema()::regnamespace
      and proconfig @> array['plan_cache_mode=force_generic_plan']
  loop
    execute format('alter function %s reset plan_cache_mode', planned);
  end loop;
end $$;
