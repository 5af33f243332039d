-- Work of our own goes through the delivery engine too: mails, and what the operator's systems are told. It has messages,
-- deliveries and endpoints like any other, which no merchant sees.
alter table endpoint
    add column internal boolean not null default false,
    add constraint internal_endpoints_keep_no_secrets check (
        not internal or (url = '' and key_id = '' and authentication = '' and secret = '' and previous_secret is null)
    ),
    add constraint internal_endpoints_stay check (not internal or (paused_at is null and removed_at is null));

alter table message add column internal boolean not null default false;

-- What merchants follow and look for has no place for it. Like the trials, it is kept out by the indexes themselves.
drop index message_in_feed;
create index message_in_feed on message (merchant_id, feed_epoch, transaction, message_id)
    where kind <> 'endpoint_test' and not internal;

drop index message_by_subject;
create index message_by_subject on message (merchant_id, subject, message_id) where kind <> 'endpoint_test' and not internal;

-- What was told of an endpoint, so that each change is told once. The row is locked by whoever decides.
create table endpoint_notice (
    merchant_id uuid not null,
    endpoint_id uuid not null,
    -- Since when it fails, as was told; null once it was told to have recovered.
    failing_since timestamptz,
    -- Since when the failure queue has something of it, as was told; null once it has nothing.
    failures_open_since timestamptz,
    -- The number of the last notice, by which notices of an endpoint stay in order.
    sequence bigint not null constraint notices_count_from_zero check (sequence >= 0),
    primary key (merchant_id, endpoint_id)
);

-- What waits for a retry: by it a new owner knows which endpoints may be failing.
create index delivery_to_retry on delivery (endpoint_id) where attempts > 0;
