-- What a price table says that the call of a model cost, beside what its sender says.
-- Adds columns without a default: a lock of milliseconds, and no row is written.

alter table events add cost_estimate jsonb;
alter table archived_events add cost_estimate jsonb;
