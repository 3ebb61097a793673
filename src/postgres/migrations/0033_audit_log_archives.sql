-- Archivals that a caller requested, by organization and by scope. Rows of archived contents, which
-- the workflow writes, are not among them. Changes wait while the indexes are built, which reads the
-- audit log twice: a second or so for a million rows.

create index audit_log_archives_idx on audit_log (org_id, sequence)
  where action in ('dataplane.archive', 'workspace.archive', 'project.archive')
    and actor_type <> 'system';
create index audit_log_archived_scope_idx on audit_log (scope_id)
  where action in ('dataplane.archive', 'workspace.archive', 'project.archive')
    and actor_type <> 'system';
