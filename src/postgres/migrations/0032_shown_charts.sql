-- What a stored chart shows beyond one measure over time: its kind and measures. A column without a
-- default; holds its lock for an instant, and the release before leaves it null.

alter table charts add column shown json;
