-- The newest of the calls that are counted together: when it began, and why there was no answer. Null where an earlier version counted.
-- Whoever counts changes the row anyway, and no index has these columns.
alter table attempt_hourly add column last_at timestamptz, add column last_reason text;
