-- Where a merchant's systems take messages: one endpoint for each interface.
create table endpoint (
    merchant_id uuid not null,
    endpoint_id uuid not null,
    created_at timestamptz not null,
    changed_at timestamptz not null,
    paused_at timestamptz,
    -- What is owed to a removed endpoint goes to the failure queue.
    removed_at timestamptz,
    -- Until when the previous signing secret is still used beside the current one.
    previous_secret_until timestamptz,
    -- Grows with every change, so that whoever holds the settings knows when they are old.
    revision bigint not null constraint endpoint_revisions_count_from_one check (revision >= 1),
    -- Calls at once, and calls a second.
    slots integer not null constraint slots_are_plausible check (slots between 1 and 1000),
    per_second integer not null constraint rate_is_plausible check (per_second between 1 and 100000),
    -- Which process delivers: see delivery_bucket.
    bucket smallint not null constraint there_are_256_buckets check (bucket between 0 and 255),
    interface text not null,
    url text not null,
    -- Seconds before each retry; null is the usual schedule.
    waits bigint[],
    -- A header with the API's version, where the merchant asks for another than the usual one.
    version_header text,
    version_value text,
    -- Sealed with the key `key_id`, which is outside the database: authentication, signing secrets.
    key_id text not null,
    authentication bytea not null,
    secret bytea not null,
    previous_secret bytea,
    primary key (merchant_id, endpoint_id),
    constraint version_header_has_its_value check ((version_header is null) = (version_value is null)),
    constraint previous_secret_has_its_end check ((previous_secret is null) = (previous_secret_until is null))
);

create unique index one_endpoint_per_interface on endpoint (merchant_id, interface) where removed_at is null;
create index endpoint_by_bucket on endpoint (bucket);

-- What was said to merchants, exactly: appended in the transaction of the change that it tells of, never changed. A
-- partition holds the messages of a day, because its ids begin with the time.
create table message (
    merchant_id uuid not null,
    message_id uuid not null,
    sequence bigint not null constraint message_sequences_count_from_one check (sequence >= 1),
    kind text not null,
    event text not null,
    subject text collate "C" not null,
    body text compression lz4 not null,
    primary key (merchant_id, message_id)
) partition by range (message_id);

-- What is owed: a row for each message not yet delivered or given up. It is narrow and hot, and normally nearly empty.
-- Business transactions insert rows, due at once; only the owner of the endpoint's bucket changes and deletes them.
create table delivery (
    merchant_id uuid not null,
    message_id uuid not null,
    endpoint_id uuid not null,
    sequence bigint not null,
    -- Infinity while another message of the lane goes first.
    due_at timestamptz not null,
    -- Counted attempts of this round, and of the rounds before it.
    attempts smallint not null,
    attempts_before smallint not null,
    -- Set by whoever wants it gone; the owner carries it out.
    discard boolean not null,
    -- Messages of a lane go one after the other: the subject, or for a message retried by hand its own id.
    lane text collate "C" not null,
    primary key (merchant_id, message_id)
) with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000
);

create index delivery_by_due on delivery (endpoint_id, due_at, message_id);
create index delivery_by_lane on delivery (endpoint_id, lane, sequence);
create index delivery_to_discard on delivery (endpoint_id) where discard;

-- Who delivers for which endpoints, and until when. The epoch grows with every change of owner, so that what a former
-- owner still writes can be told from what the present one does. Leases go by this server's clock.
create table delivery_bucket (
    bucket smallint primary key,
    epoch bigint not null,
    leased_until timestamptz,
    owner uuid,
    constraint bucket_leased_iff_owned check ((owner is null) = (leased_until is null))
) with (fillfactor = 10);

insert into delivery_bucket (bucket, epoch) select bucket, 0 from generate_series(0, 255) as bucket;

-- Which processes deliver, so that each knows its fair share of the buckets.
create table deliverer (
    deliverer_id uuid primary key,
    live_until timestamptz not null
) with (fillfactor = 50);

-- What became of each call; appended, a partition a day.
create table attempt (
    merchant_id uuid not null,
    attempt_id uuid not null,
    message_id uuid not null,
    endpoint_id uuid not null,
    started_at timestamptz not null,
    took_ms integer not null,
    -- As the receiver was told; a second call with a new token has the number of the first.
    number smallint not null,
    status smallint,
    outcome text not null,
    -- Why there was no answer.
    reason text,
    -- How the answer began.
    answer bytea,
    primary key (merchant_id, attempt_id)
) partition by range (attempt_id);

create index attempt_by_message on attempt (merchant_id, message_id);

-- Reports: how many attempts ended how, by the hour. Only the owner of the endpoint's bucket counts here.
create table attempt_hourly (
    merchant_id uuid not null,
    endpoint_id uuid not null,
    hour timestamptz not null,
    count bigint not null,
    number smallint not null,
    kind text not null,
    outcome text not null,
    primary key (merchant_id, endpoint_id, hour, kind, outcome, number)
) with (fillfactor = 70);

-- Messages whose attempts are used up, with a copy of what was said: a list that people work from.
create table failure (
    merchant_id uuid not null,
    message_id uuid not null,
    endpoint_id uuid not null,
    sequence bigint not null,
    failed_at timestamptz not null,
    contacted_at timestamptz,
    attempts smallint not null,
    kind text not null,
    event text not null,
    subject text collate "C" not null,
    -- The last outcome, or what else ended it.
    reason text not null,
    state text not null constraint failure_state_is_known check (state in ('open', 'contacted', 'resolved', 'discarded')),
    owner text,
    note text,
    body text compression lz4 not null,
    primary key (merchant_id, message_id)
);

create index failure_by_endpoint on failure (merchant_id, endpoint_id, failed_at) where state in ('open', 'contacted');

-- The smallest id (UUID version 7) that a time can have.
create function first_id(at timestamptz) returns uuid language sql immutable
    return (rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0'))::uuid;

-- Makes the partitions of `days` days from `first` on that are not there yet, and answers how many it made.
create function make_partitions(first timestamptz, days integer) returns integer language plpgsql as $$
declare
    of text;
    day timestamptz;
    name text;
    made integer := 0;
begin
    foreach of in array array['message', 'attempt'] loop
        for offset_days in 0 .. days - 1 loop
            day := date_trunc('day', first, 'UTC') + make_interval(days => offset_days);
            name := of || '_' || to_char(day at time zone 'UTC', 'YYYYMMDD');
            if to_regclass(name) is null then
                execute format('create table %I partition of %I for values from (%L) to (%L)',
                    name, of, first_id(day), first_id(day + interval '1 day'));
                made := made + 1;
            end if;
        end loop;
    end loop;
    return made;
end
$$;

-- Drops the partitions of days that ended before `keep_from`, but none of messages that are still owed; answers the names
-- of those kept for that reason.
create function drop_partitions(keep_from timestamptz) returns text[] language plpgsql as $$
declare
    partition record;
    kept text[] := '{}';
    ends timestamptz;
    owed boolean;
begin
    for partition in
        select child.relname::text as name, parent.relname::text as of
        from pg_inherits
        join pg_class child on child.oid = inhrelid
        join pg_class parent on parent.oid = inhparent
        where parent.relname in ('message', 'attempt') and parent.relnamespace = 'public'::regnamespace and child.relkind = 'r'
        order by child.relname
    loop
        ends := to_date(right(partition.name, 8), 'YYYYMMDD')::timestamp at time zone 'UTC' + interval '1 day';
        continue when ends > keep_from;
        owed := false;
        if partition.of = 'message' then
            select exists (
                select from delivery
                where message_id >= first_id(ends - interval '1 day') and message_id < first_id(ends)
            ) into owed;
        end if;
        if owed then
            kept := kept || partition.name;
        else
            execute format('drop table %I', partition.name);
        end if;
    end loop;
    return kept;
end
$$;
