-- Marks of past hours as a function beside those of commits: as parts of the statement they took
-- Postgres longer than the event itself. A new function only; locks no table.

-- Marks those of the hours that ended more than `unmarked_ms` ago (migration 0034). Skips rows that
-- other transactions hold, so that no writer waits and none deadlocks.
create function mark_past_hours(project_ids uuid[], hours integer[], unmarked_ms integer)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  end_hour integer := floor(
    (extract(epoch from statement_timestamp()) - unmarked_ms / 1000) / 3600)::integer;
  free_slot bigint;
begin
  for i in 1 .. cardinality(hours) loop
    continue when hours[i] >= end_hour;
    select slot into free_slot
    from chart_marks
    where project_id = project_ids[i] and hour = hours[i]
    limit 1
    for no key update skip locked;
    if found then
      update chart_marks set version = floor(random() * 9007199254740991)::bigint
      where project_id = project_ids[i] and hour = hours[i] and slot = free_slot;
    else
      insert into chart_marks (project_id, hour, slot, version)
      values (
        project_ids[i], hours[i], floor(random() * 9007199254740991)::bigint,
        floor(random() * 9007199254740991)::bigint);
    end if;
  end loop;
end $$;
