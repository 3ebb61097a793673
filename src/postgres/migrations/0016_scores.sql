-- Runs of evaluators on events, stored beside the events: queued, running, scored, failed.
-- New tables, and a trigger on events: writers wait while that is made, which takes no time once
-- those that are under way have committed.

-- Events that were written and that evaluators may have to run on: one row for all of a commit, so
-- that ingestion pays little; written in the commit's own transaction.
create table evaluation_queue (
  project_id uuid not null,
  -- UUIDv7: in order of time.
  queue_id uuid not null,
  event_ids text[] not null,
  queued_at timestamptz not null default clock_timestamp(),
  primary key (project_id, queue_id)
);

-- One row for each (version, event) that runs or ran: its key is what makes a score exactly one.
create table scores (
  project_id uuid not null,
  evaluator_id uuid not null,
  event_id text not null,
  version integer not null,
  state text not null check (state in ('queued', 'running', 'scored', 'failed')),
  -- The evaluator's enablement when it was queued.
  enablement integer not null,
  -- Absent while it is queued.
  chunk_id uuid,
  -- When the event was committed or the backfill came to it.
  queued_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  result jsonb,
  explanation text,
  failure text,
  -- {provider, model, promptTokens, completionTokens, cost, answer} of the call of a judge.
  judge jsonb,
  -- The event's id comes first, so that the key finds all scores of an event.
  primary key (project_id, event_id, evaluator_id, version)
);

-- A score goes with its event, and its insert locks the event. No foreign key: checking it
-- row by row cost ten times the insert when measured, and archiving deletes events by the thousand.
create function delete_scores_of_events() returns trigger language plpgsql as $$
begin
  delete from scores
  using gone
  where scores.project_id = gone.project_id and scores.event_id = gone.event_id;
  return null;
end $$;

create trigger events_scores_go after delete on events
  referencing old table as gone
  for each statement execute function delete_scores_of_events();

-- Small, because they hold only waiting and running work.
create index scores_queued_idx on scores (project_id, evaluator_id, version, queued_at)
  where state = 'queued';
create index scores_running_idx on scores (project_id, chunk_id) where state = 'running';

-- Events that one workflow runs one version on.
create table evaluation_chunks (
  project_id uuid not null,
  chunk_id uuid not null,
  evaluator_id uuid not null,
  -- Name in this version.
  evaluator_name text not null,
  version integer not null,
  enablement integer not null,
  -- Absent where events came by themselves.
  backfill_id uuid,
  workflow_id text not null,
  events integer not null,
  scored integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  -- Totals of the judge's calls.
  judge_prompt_tokens bigint not null default 0,
  judge_completion_tokens bigint not null default 0,
  -- US dollars of those whose price is known.
  judge_cost numeric not null default 0,
  judge_unpriced integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  -- When its workflow was put into the outbox; for a backfill's, when it was made.
  handed_at timestamptz,
  -- When it last got on.
  moved_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (project_id, chunk_id)
);

create index evaluation_chunks_open_idx on evaluation_chunks (project_id, evaluator_id)
  where ended_at is null;
-- Serves sums over the last days.
create index evaluation_chunks_evaluator_idx
  on evaluation_chunks (project_id, evaluator_id, created_at);
create index evaluation_chunks_backfill_idx on evaluation_chunks (project_id, backfill_id)
  where backfill_id is not null;

-- Failures with no score between, counted afresh in each enablement.
create table evaluator_streaks (
  project_id uuid not null,
  evaluator_id uuid not null,
  enablement integer not null,
  failures_in_row integer not null,
  last_failure text,
  primary key (project_id, evaluator_id, enablement)
);
