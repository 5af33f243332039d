-- Messages that nobody was sent, because their interface had no endpoint when they were written. They leave when they are sent to
-- an endpoint that was set later, or when their day is dropped.
create table unsent_message (
    merchant_id uuid not null,
    message_id uuid not null,
    sequence bigint not null,
    kind text not null,
    subject text collate "C" not null,
    primary key (merchant_id, message_id)
);
create index unsent_by_kind on unsent_message (merchant_id, kind, message_id);
create index unsent_by_age on unsent_message (message_id);

-- How many of them were dropped with their day.
create table unsent_dropped (
    merchant_id uuid not null,
    kind text not null,
    -- The last time.
    dropped_at timestamptz not null,
    count bigint not null constraint dropped_is_a_count check (count >= 1),
    primary key (merchant_id, kind)
);

-- What was written before this migration.
insert into unsent_message (merchant_id, message_id, sequence, kind, subject)
select message.merchant_id, message.message_id, message.sequence, message.kind, message.subject
from message
where message.kind <> 'endpoint_test' and not message.internal
    and not exists (
        select from endpoint
        where endpoint.merchant_id = message.merchant_id and endpoint.interface = message.kind
            and first_id(endpoint.created_at) <= message.message_id
            and (endpoint.removed_at is null or first_id(endpoint.removed_at) > message.message_id)
    )
    and not exists (
        select from delivery where delivery.merchant_id = message.merchant_id and delivery.message_id = message.message_id
    )
    and not exists (select from failure where failure.merchant_id = message.merchant_id and failure.message_id = message.message_id)
    and not exists (select from attempt where attempt.merchant_id = message.merchant_id and attempt.message_id = message.message_id);

-- Whether two snapshots of an order say the same: white space, the order of names and the spelling of numbers and characters do not
-- count. A number too small or large for the comparison makes them different.
create function same_content(one text, other text) returns boolean language plpgsql immutable strict as $$
begin
    return one::jsonb = other::jsonb;
exception
    when data_exception or program_limit_exceeded then
        return false;
end
$$;

-- What is deleted by its age: refused messages and import reports after 90 days, the audit trail after 7 years.
create index refusal_by_age on intake_refusal (refused_at);
create index import_by_age on order_import (updated_at);
create index audit_by_age on audit (done_at);
