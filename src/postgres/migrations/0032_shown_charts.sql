-- Kind and measures of a stored chart that shows more than one measure over time. A column without
-- a default; holds its lock for an instant, and the release before leaves it null.

alter table charts add column shown json;
