-- Records of feedback on generations, beside what they change on the generation's event.
-- New table only; takes no lock that anyone could wait for.

create table feedback (
  project_id uuid not null,
  feedback_id uuid not null,
  generation_id text not null,
  task text not null,
  feedback jsonb not null,
  ground_truth text,
  -- The clock's time, not the transaction's: writers of one generation wait for each other.
  created_at timestamptz not null default clock_timestamp(),
  -- Lists go by the time.
  primary key (project_id, generation_id, created_at, feedback_id)
);
