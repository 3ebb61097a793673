-- Cost of a model call by the price table, beside the cost that its sender gives.
-- Adds columns without a default: a lock of milliseconds, and no row is written.

alter table events add cost_estimate jsonb;
alter table archived_events add cost_estimate jsonb;
