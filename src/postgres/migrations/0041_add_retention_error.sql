-- Reports of retention say why a run does not go on. The column takes no rewrite; the lock is held
-- for an instant.

alter table retention_runs add column error text;
