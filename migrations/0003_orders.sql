-- The newest snapshot of each order, exactly as sent, beside the columns that are searched. The snapshot is text, not
-- jsonb: what goes out again must be the same bytes.
create table customer_order (
    merchant_id uuid not null,
    placed_at timestamptz not null,
    updated_at timestamptz not null,
    received_at timestamptz not null,
    revision bigint not null constraint revision_counts_from_one check (revision >= 1),
    identifier text collate "C" not null,
    status text not null constraint order_status_is_known check (status in ('Created', 'Shipped', 'Cancelled')),
    digest bytea not null constraint digest_is_a_sha256 check (length(digest) = 32),
    -- Keyed fingerprints of the shopper's e-mail address and postal code; the key is outside the database.
    email_fingerprint bytea,
    zip_fingerprint bytea,
    -- What did not add up, as the caller was told; null when everything did.
    warnings text,
    snapshot text compression lz4 not null,
    primary key (merchant_id, identifier)
) with (fillfactor = 90);

create index customer_order_with_warnings on customer_order (merchant_id, received_at desc) where warnings is not null;

create table refund (
    merchant_id uuid not null,
    refunded_at timestamptz not null,
    received_at timestamptz not null,
    total_cents bigint not null constraint refund_total_is_not_negative check (total_cents >= 0),
    identifier text collate "C" not null,
    order_identifier text collate "C" not null,
    note text,
    rma_identifier text,
    primary key (merchant_id, identifier)
);

create index refund_by_order on refund (merchant_id, order_identifier);

create table refund_line (
    merchant_id uuid not null,
    quantity integer not null constraint refunded_units_are_not_negative check (quantity >= 0),
    identifier text collate "C" not null,
    refund_identifier text collate "C" not null,
    order_identifier text collate "C" not null,
    order_line text collate "C" not null,
    primary key (merchant_id, identifier),
    foreign key (merchant_id, refund_identifier) references refund
);

create index refund_line_by_order on refund_line (merchant_id, order_identifier);

-- Refused messages and why, for support. It holds no part of the message beside its orders' identifiers.
create table intake_refusal (
    merchant_id uuid not null,
    refusal_id uuid not null,
    refused_at timestamptz not null,
    request_id text not null,
    order_identifiers text[] not null,
    reason text not null,
    faults text not null,
    primary key (merchant_id, refusal_id)
);
