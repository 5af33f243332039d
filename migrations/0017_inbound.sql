-- What merchants announce to warehouses. An ASN that units have arrived of is receiving: its receipts say so, so that those who
-- scan change nothing of it that others wait for.
create table inbound_asn (
    merchant_id uuid not null,
    asn_id uuid not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    ship_date timestamptz,
    -- How many units its lines announce.
    announced bigint not null,
    line_count integer not null,
    -- Whether any of its lines belongs to a return: a reception need not look for returns otherwise.
    has_returns boolean not null,
    state text not null constraint inbound_state_is_known check (state in ('open', 'closed', 'canceled')),
    -- SHA-256 of its content: the same again is no other.
    digest bytea not null constraint asn_digest_is_a_sha256 check (length(digest) = 32),
    asn_number text collate "C" not null,
    shipment_identifier text collate "C" not null,
    program_identifier text,
    channel text,
    from_identifier text not null,
    from_type text not null,
    to_identifier text not null,
    to_type text not null,
    tracking_number text,
    carrier text,
    primary key (merchant_id, asn_id),
    constraint an_asn_number_is_used_once unique (merchant_id, asn_number)
);

create index inbound_asn_by_shipment on inbound_asn (merchant_id, shipment_identifier, asn_id);

-- Its lines: one particular unit each, or a number of units of a SKU. What is known of a carton stands on each of its lines.
create table asn_line (
    merchant_id uuid not null,
    asn_id uuid not null,
    position integer not null,
    carton integer not null,
    quantity integer not null constraint a_line_announces_something check (quantity >= 1),
    received integer not null default 0,
    line_identifier text collate "C" not null,
    carton_identifier text,
    reference_type text,
    reference_identifier text collate "C",
    alternate_identifier text,
    reference_line_identifier text,
    unit_identifier text collate "C",
    client_unit_identifier text collate "C",
    sku text collate "C",
    upc text,
    program_identifier text,
    serial_number text,
    vendor_identifier text,
    condition text,
    eligibility_flags text[],
    merchant text,
    concept text,
    asin text,
    return_reason text,
    constraint a_line_has_a_name_of_its_own primary key (merchant_id, asn_id, line_identifier),
    foreign key (merchant_id, asn_id) references inbound_asn,
    constraint no_line_takes_more_than_it_announces check (received between 0 and quantity),
    constraint reference_is_whole check ((reference_type is null) = (reference_identifier is null))
) with (fillfactor = 80);

create index asn_line_by_unit on asn_line (merchant_id, asn_id, unit_identifier) where unit_identifier is not null;
create index asn_line_by_client_unit on asn_line (merchant_id, asn_id, client_unit_identifier) where client_unit_identifier is not null;
create index asn_line_by_sku on asn_line (merchant_id, asn_id, sku) where unit_identifier is null and client_unit_identifier is null;
create index asn_line_by_rma on asn_line (merchant_id, reference_identifier) where reference_type = 'RMA';

-- Units that were received, each once: the key is the unit.
create table receipt (
    merchant_id uuid not null,
    asn_id uuid not null,
    received_at timestamptz not null,
    unit_identifier text collate "C" not null,
    line_identifier text collate "C" not null,
    warehouse_id text collate "C" not null,
    client_unit_identifier text,
    sku text,
    upc text,
    condition text not null,
    channel text,
    serial_number text,
    asin text,
    return_reason text,
    reject_reason text,
    user_login text,
    tracking_number text,
    location_identifier text,
    constraint a_unit_is_received_once primary key (merchant_id, unit_identifier),
    foreign key (merchant_id, asn_id) references inbound_asn
);

create index receipt_by_asn on receipt (merchant_id, asn_id);

-- What arrived and was not announced, or was announced and did not arrive, for people to look at. What is settled stays.
create table receiving_exception (
    merchant_id uuid not null,
    exception_id uuid not null,
    found_at timestamptz not null,
    resolved_at timestamptz,
    quantity integer not null constraint exceptions_are_not_negative check (quantity >= 0),
    exception text not null,
    asn_number text collate "C" not null,
    -- The unit, or the line of which units are missing; empty where it is not about one.
    unit_identifier text collate "C" not null,
    line_identifier text collate "C" not null,
    sku text,
    warehouse_id text,
    condition text,
    user_login text,
    primary key (merchant_id, exception_id),
    constraint the_same_exception_is_kept_once unique (merchant_id, asn_number, unit_identifier, line_identifier, exception)
);

create index receiving_exception_by_asn on receiving_exception (merchant_id, asn_number, exception_id);
create index receiving_exception_by_unit on receiving_exception (merchant_id, unit_identifier) where resolved_at is null;
