-- Merges updates without reading their events first: one round trip in place of two, for the updates
-- that clients send most. A new function only; locks no table.

-- Merges updates into events that were not read. A bucket takes the given keys, another field its
-- given value; an error changes only if the row `sets_error`. `types` are the event types under
-- which the catalogue has all fields of the update. Fails (serialization_failure), and so changes
-- nothing, if an event is absent, of another type, or takes more than `bytes_max` bytes, or if its
-- estimate of cost is not by `price_table`, or is absent although it has one of the `counts`.
create function merge_unread_events(
  updates jsonb, bytes_max integer, price_table text, counts text[], unmarked_ms integer)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  given record;
  held record;
  errors_added integer;
  feedback_added integer;
  totals_projects uuid[] := '{}';
  totals_sessions text[] := '{}';
  totals_errors integer[] := '{}';
  totals_feedback integer[] := '{}';
  hours_projects uuid[] := '{}';
  hours integer[] := '{}';
begin
  -- In the order of every writer, against deadlocks.
  for given in
    select *
    from jsonb_to_recordset(updates) as given (
      project_id uuid, event_id text, types text[], event_name text, source text, parent_id text,
      error text, sets_error boolean, duration_ms double precision, config jsonb, inputs jsonb,
      outputs jsonb, metadata jsonb, metrics jsonb, feedback jsonb, user_properties jsonb)
    order by project_id, event_id
  loop
    select
      session_id, event_type, error is not null as has_error, feedback <> '{}' as has_feedback,
      floor(start_time_us / 3600000000::numeric)::integer as hour,
      pg_column_size(config) + pg_column_size(inputs) + pg_column_size(outputs)
        + pg_column_size(metadata) + pg_column_size(metrics) + pg_column_size(feedback)
        + pg_column_size(user_properties) <= bytes_max
        and case when cost_estimate is null
          then event_type <> 'model' or not metadata ?| counts
          else cost_estimate ->> 'price_table' = price_table end as is_mergeable
    into held
    from events
    where project_id = given.project_id and event_id = given.event_id
    for no key update;
    if not found or not held.is_mergeable or held.event_type <> all (given.types) then
      raise serialization_failure using message = 'an event has to be read before it is merged';
    end if;

    update events set
      event_name = coalesce(given.event_name, event_name),
      source = coalesce(given.source, source),
      parent_id = coalesce(given.parent_id, parent_id),
      error = case when given.sets_error then given.error else error end,
      duration_ms = coalesce(given.duration_ms, duration_ms),
      config = coalesce(config || given.config, config),
      inputs = coalesce(inputs || given.inputs, inputs),
      outputs = coalesce(outputs || given.outputs, outputs),
      metadata = coalesce(metadata || given.metadata, metadata),
      metrics = coalesce(metrics || given.metrics, metrics),
      feedback = coalesce(feedback || given.feedback, feedback),
      user_properties = coalesce(user_properties || given.user_properties, user_properties)
    where project_id = given.project_id and event_id = given.event_id;

    errors_added := 0;
    -- Sums leave the error of the session itself out.
    if given.sets_error
      and not (held.event_type = 'session' and held.session_id = given.event_id) then
      errors_added := (given.error is not null)::integer - held.has_error::integer;
    end if;
    feedback_added := (given.feedback is not null and not held.has_feedback)::integer;
    if errors_added <> 0 or feedback_added <> 0 then
      totals_projects := totals_projects || given.project_id;
      totals_sessions := totals_sessions || held.session_id;
      totals_errors := totals_errors || errors_added;
      totals_feedback := totals_feedback || feedback_added;
    end if;
    -- Sums over hours leave sessions out.
    if held.event_type <> 'session' and (
      hours[cardinality(hours)], hours_projects[cardinality(hours)])
      is distinct from (held.hour, given.project_id) then
      hours := hours || held.hour;
      hours_projects := hours_projects || given.project_id;
    end if;
  end loop;

  if cardinality(totals_sessions) > 0 then
    -- In the order of add_to_totals.
    insert into session_totals as counted (
      project_id, session_id, num_events, num_model_events, num_errors, num_costs, num_feedback,
      prompt_tokens, completion_tokens, total_tokens, cost)
    select project_id, session_id, 0, 0, sum(errors), 0, sum(feedback), 0, 0, 0, 0
    from unnest(totals_projects, totals_sessions, totals_errors, totals_feedback)
      as terms (project_id, session_id, errors, feedback)
    group by project_id, session_id
    order by project_id, session_id collate "C"
    on conflict (project_id, session_id) do update set
      num_errors = counted.num_errors + excluded.num_errors,
      num_feedback = counted.num_feedback + excluded.num_feedback;
  end if;
  perform mark_past_hours(hours_projects, hours, unmarked_ms);
end $$;
