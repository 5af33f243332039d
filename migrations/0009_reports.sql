-- Reports: how many messages arrived, by the hour of the attempt that brought them, at which attempt, and within how many
-- milliseconds after they were written: an upper bound of domain::promptness, so that old rows keep their meaning when the
-- bounds change. A message counts once, in the transaction that removes its delivery. Only the owner of the endpoint's
-- bucket counts here.
create table delivered_hourly (
    merchant_id uuid not null,
    endpoint_id uuid not null,
    hour timestamptz not null,
    count bigint not null,
    within_ms bigint not null,
    attempts smallint not null,
    kind text not null,
    primary key (merchant_id, hour, endpoint_id, kind, attempts, within_ms)
) with (fillfactor = 70);

-- Reports read a merchant's hours. Counting changes no indexed column, so that this costs a row its first count only.
create index attempt_hourly_by_hour on attempt_hourly (merchant_id, hour);
