-- Hours of a project whose events were changed after their end, so that charts know which sums over
-- an hour still hold (docs/decisions.md, 47.4). A new table only; takes no lock.

-- The versions of an hour's rows make its version. A change renews a row that no other transaction
-- holds, or else adds one: writers never wait, and an hour has at most as many rows as transactions
-- have changed it at once.
create table chart_marks (
  project_id uuid not null,
  -- Hours since 1970 in UTC.
  hour integer not null,
  -- Random.
  slot bigint not null,
  -- Random, and another one after each change.
  version bigint not null,
  primary key (project_id, hour, slot)
);
