-- What a merchant's returns may be like; a merchant without a row has the usual policy.
create table return_policy (
    merchant_id uuid primary key,
    changed_at timestamptz not null,
    window_days integer not null constraint window_is_plausible check (window_days between 0 and 3650),
    -- In thousandths of a pound.
    express_limit integer not null constraint express_limit_is_not_negative check (express_limit >= 0),
    managed_receiving boolean not null,
    reasons text[] not null,
    -- The ways back, and for each what it costs and whether that is taken off the refund.
    methods text[] not null,
    fees bigint[] not null,
    deducted boolean[] not null,
    -- Tags of the merchant's own, and the rule that each stands for.
    tags text[] not null,
    tag_rules text[] not null,
    constraint every_method_has_its_fee check (
        cardinality(methods) = cardinality(fees) and cardinality(methods) = cardinality(deducted)
    ),
    constraint every_tag_has_its_rule check (cardinality(tags) = cardinality(tag_rules))
);

-- Whether returns of the order were ever started; an order message needs no look at them otherwise.
alter table customer_order add column has_returns boolean not null default false;

-- Returns. Their sequence grows by one with every change, and every change has its message.
create table rma (
    merchant_id uuid not null,
    rma_id uuid not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- When something is due if nothing happens: the reminder, then the end. Null when nothing is.
    wakes_at timestamptz,
    sequence bigint not null constraint rma_sequences_count_from_one check (sequence >= 1),
    shipping_cost_cents bigint not null constraint shipping_cost_is_not_negative check (shipping_cost_cents >= 0),
    gift boolean not null,
    receiving_closed boolean not null,
    reminded boolean not null,
    method text not null constraint return_method_is_known check (method in ('mail-back', 'express-returns', 'customer-keep')),
    status text not null
        constraint rma_status_is_known check (status in ('CREATED', 'PARTIAL_REFUND', 'REFUNDED', 'CANCELED')),
    identifier text collate "C" not null,
    order_identifier text collate "C" not null,
    original_order_identifier text collate "C",
    cancel_reason text,
    giftee_email text,
    primary key (merchant_id, rma_id),
    constraint canceled_with_a_reason check ((status = 'CANCELED') = (cancel_reason is not null)),
    constraint giftee_only_of_a_gift check (gift or giftee_email is null)
) with (fillfactor = 80);

create unique index rma_by_identifier on rma (merchant_id, identifier);
create index rma_by_order on rma (merchant_id, order_identifier, rma_id);
create index rma_by_status on rma (merchant_id, status, rma_id);
create index rma_by_waking on rma (wakes_at) where wakes_at is not null;

-- The units of a return, one row each.
create table rma_item (
    merchant_id uuid not null,
    rma_id uuid not null,
    product_cents bigint not null,
    discount_cents bigint not null,
    tax_cents bigint not null,
    estimated_cents bigint not null,
    fee_cents bigint not null,
    service_cents bigint not null,
    shopper_cents bigint not null,
    position integer not null,
    -- Which of the line's units, from 1 on.
    unit integer not null constraint units_count_from_one check (unit >= 1),
    exchange_owed boolean not null,
    refund_type text not null,
    order_line text collate "C" not null,
    sku text not null,
    title text,
    reason text not null,
    parcel text,
    tracking_number text collate "C",
    receiving text,
    refund_identifier text collate "C",
    exchange_order_identifier text,
    primary key (merchant_id, rma_id, position),
    foreign key (merchant_id, rma_id) references rma,
    constraint tracked_iff_labelled check ((parcel is null) = (tracking_number is null)),
    constraint shares_are_not_negative check (
        least(product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents, shopper_cents) >= 0
    )
) with (fillfactor = 80);

-- Which return a tracking number belongs to. An event about a number that nobody knows yet leaves a row without a return, so
-- that it and the label that comes wait for each other.
create table parcel (
    merchant_id uuid not null,
    rma_id uuid,
    tracking_number text collate "C" not null,
    primary key (merchant_id, tracking_number)
);

-- A unit is in one return at most: whoever starts a return claims its units, and only cancelling gives them back.
create table unit_claim (
    merchant_id uuid not null,
    rma_id uuid not null,
    unit integer not null,
    order_identifier text collate "C" not null,
    order_line text collate "C" not null,
    constraint a_unit_is_in_one_return primary key (merchant_id, order_identifier, order_line, unit),
    foreign key (merchant_id, rma_id) references rma
);

create index unit_claim_by_rma on unit_claim (merchant_id, rma_id);

-- What carriers reported before there was a label; it takes effect when there is one.
create table carrier_event (
    merchant_id uuid not null,
    event_id uuid not null,
    received_at timestamptz not null,
    occurred_at timestamptz not null,
    event text not null,
    -- What it waits for: `rma <identifier>` or `tracking <number>`.
    waits_for text collate "C" not null,
    -- The units that were handed over, when it was not all of them: lines, and how many of each.
    lines text[],
    quantities integer[],
    primary key (merchant_id, event_id),
    constraint the_same_event_is_kept_once unique (merchant_id, waits_for, event, occurred_at)
);

create index carrier_event_by_age on carrier_event (received_at);

-- Requests that were made under a key, and how they were answered, for as long as they may be repeated.
create table idempotency_key (
    merchant_id uuid not null,
    used_at timestamptz not null,
    request_hash bytea not null constraint request_hash_is_a_sha256 check (length(request_hash) = 32),
    key text collate "C" not null,
    answer text compression lz4 not null,
    constraint a_key_is_used_once primary key (merchant_id, key)
);

create index idempotency_key_by_age on idempotency_key (merchant_id, used_at);
