-- Reports of retention count the waiting updates that it deletes. The default takes no rewrite; the
-- lock is held for an instant.

alter table retention_runs add column updates integer not null default 0;
