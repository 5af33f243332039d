-- The messages of a subject, newest first. Trials have none; and because it is not for all rows, no plan that was made for an
-- empty table takes it for the key.
create index message_by_subject on message (merchant_id, subject, message_id) where kind <> 'endpoint_test';

-- What people work from in the failure queue: by endpoint and time, with the reason, so that counting reads the index alone.
create index failure_to_work_on on failure (merchant_id, endpoint_id, failed_at, message_id) include (reason)
    where state in ('open', 'contacted');
drop index failure_by_endpoint;
create index failure_by_message on failure (merchant_id, message_id) where state in ('open', 'contacted');

-- Messages that are tried again by hand, and not yet delivered or given up: few, and apart from the others.
create index delivery_retried on delivery (endpoint_id, due_at) where attempts_before > 0;

-- How a process is known to people, and how many calls it had out when it last renewed its leases.
alter table deliverer add column name text, add column calls integer;

-- Everything of an endpoint in the failure queue is tried again, a few at a time. The owner of the endpoint's bucket releases
-- the messages, in order of (failed_at, message_id), and writes down how far it has come in the same transaction.
create table retry_job (
    merchant_id uuid not null,
    job_id uuid not null,
    endpoint_id uuid not null,
    created_at timestamptz not null,
    -- Only what failed since then; what fails after the job was made is none of its business.
    failed_since timestamptz,
    -- The last message that was released.
    cursor_failed_at timestamptz,
    cursor_message_id uuid,
    -- From when on the rate counts.
    paced_at timestamptz not null,
    ended_at timestamptz,
    cancelled_at timestamptz,
    total bigint not null constraint retry_total_is_a_count check (total >= 0),
    released bigint not null constraint released_is_a_count check (released >= 0),
    per_second integer not null constraint retry_rate_is_plausible check (per_second between 1 and 100000),
    created_by text not null,
    primary key (merchant_id, job_id),
    constraint retry_cursor_is_whole check ((cursor_failed_at is null) = (cursor_message_id is null)),
    constraint cancelled_retry_has_ended check (cancelled_at is null or ended_at is not null)
);

create unique index one_retry_job_per_endpoint on retry_job (merchant_id, endpoint_id) where ended_at is null;
create index retry_job_at_work on retry_job (endpoint_id) where ended_at is null;
