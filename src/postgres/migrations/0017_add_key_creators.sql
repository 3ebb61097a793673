-- Which key created a key, so that both can be revoked together (docs/decisions.md, 32).
-- Nullable columns and partial indexes on a small table: locks of milliseconds.

-- Null on keys that people, the command line or a first start created.
alter table api_keys add created_by_key_id uuid;

-- Keys of earlier releases name their creator at the end of created_by: `key NAME (ID)`.
update api_keys
set created_by_key_id = substring(created_by from '\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)$')::uuid
where created_by_key;

create index api_keys_created_by_key_idx on api_keys (created_by_key_id)
  where created_by_key_id is not null;
-- One change may tell of several keys, whose confirmation is recorded together.
create index api_keys_revocation_idx on api_keys (revocation_change_id)
  where revocation_change_id is not null and revocation_confirmed_at is null;
