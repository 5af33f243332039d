-- Jobs that send the delivered messages of a time range to an endpoint once more, in order, a few at a time.
create table replay_job (
    merchant_id uuid not null,
    job_id uuid not null,
    endpoint_id uuid not null,
    created_at timestamptz not null,
    -- The range: messages written from the first time until before the second.
    replayed_from timestamptz not null,
    replayed_to timestamptz not null,
    -- The last message that was looked at.
    cursor_message_id uuid,
    -- From when on the rate counts.
    paced_at timestamptz not null,
    ended_at timestamptz,
    cancelled_at timestamptz,
    -- Sent once more, and left out because they were erased, are owed or never arrived.
    released bigint not null constraint replayed_is_a_count check (released >= 0),
    left_out bigint not null constraint left_out_is_a_count check (left_out >= 0),
    per_second integer not null constraint replay_rate_is_plausible check (per_second between 1 and 100000),
    created_by text not null,
    primary key (merchant_id, job_id),
    constraint replay_range_has_a_length check (replayed_from < replayed_to),
    constraint cancelled_replay_has_ended check (cancelled_at is null or ended_at is not null)
);

create unique index one_replay_job_per_endpoint on replay_job (merchant_id, endpoint_id) where ended_at is null;
create index replay_job_at_work on replay_job (endpoint_id) where ended_at is null;
create index replay_job_by_end on replay_job (ended_at) where ended_at is not null;
