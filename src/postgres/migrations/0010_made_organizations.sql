-- Which key made an organization: it goes on to manage what it made (docs/decisions.md, 33).
-- A nullable column and a partial index on a small table: locks of milliseconds.

alter table organizations add created_by_key uuid;

create index organizations_created_by_key_idx on organizations (created_by_key, created_at)
  where created_by_key is not null and archived_at is null;
