-- When the last notices were sent: an endpoint that relapses must be steady for longer before it counts as recovered, and a failure queue
-- that fills again and again is told of every few hours at most.
alter table endpoint_notice
    add column recovered_at timestamptz,
    add column failures_told_at timestamptz;
