-- A call that runs a model claims its Idempotency-Key before, since no transaction is open meanwhile.
-- Adds columns without a default: a lock of milliseconds, and no row is written.

-- Until when the key counts as in flight; null on records that hold an answer or a refusal.
alter table idempotency_records add claimed_until timestamptz;
-- Headers that go with an answer, or with a provider's words in `response`; JSON text of an object.
alter table idempotency_records add headers text;
-- Status of a provider's words, which are in `response` where there is a reason too.
alter table idempotency_records add relayed_status integer;
