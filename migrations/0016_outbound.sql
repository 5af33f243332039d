-- Shipments out of a warehouse. What a shipment says of its places is fixed when it is made. Its sequence grows by one with
-- every change that is told, and is that of each of its parts.
create table outbound_shipment (
    merchant_id uuid not null,
    shipment_id uuid not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    ship_date timestamptz not null,
    sequence bigint not null,
    units integer not null,
    cartons integer not null,
    -- How many messages tell of it; none until its units are fixed.
    parts integer not null,
    state text not null
        constraint shipment_state_is_known check (state in ('open', 'announced', 'shipped', 'delivered', 'canceled')),
    kind text not null constraint shipment_kind_is_known check (kind in ('stock_transfer', 'freight', 'vendor')),
    asn_number text collate "C" not null,
    -- SHA-256 of what was asked for, to tell the same request from another one.
    request_hash bytea not null constraint shipment_hash_is_a_sha256 check (length(request_hash) = 32),
    channel text not null,
    shipment_identifier text not null,
    carrier text,
    carrier_payment_type text,
    bol_number text,
    tracking_numbers text[] not null,
    from_identifier text not null,
    to_identifier text not null,
    to_type text not null,
    to_name text not null,
    to_company text,
    to_street text not null,
    to_street2 text,
    to_city text not null,
    to_state text not null,
    to_zip text not null,
    primary key (merchant_id, shipment_id),
    constraint units_and_cartons_are_counted check (units >= 0 and cartons >= 0),
    constraint fixed_iff_it_has_parts check (
        case state when 'open' then parts = 0 when 'canceled' then parts >= 0 else parts > 0 end
    )
) with (fillfactor = 80);

create unique index outbound_shipment_by_number on outbound_shipment (merchant_id, asn_number);

-- Numbers as they are sent, and those of shipments: each is taken once, so that no part of one shipment has the number of
-- another.
create table asn_number (
    merchant_id uuid not null,
    shipment_id uuid not null,
    number text collate "C" not null,
    constraint an_asn_number_is_taken_once primary key (merchant_id, number),
    foreign key (merchant_id, shipment_id) references outbound_shipment
);

-- Boxes and pallets of shipments, numbered in the order in which they came. The key tells one carton from another: its
-- identifier, or, of one without, whatever else is known of it, as a SHA-256.
create table shipment_carton (
    merchant_id uuid not null,
    shipment_id uuid not null,
    carton integer not null,
    key bytea not null,
    identifier text,
    reference_type text,
    reference_identifier text,
    reference_alternate text,
    sorting_template text,
    primary key (merchant_id, shipment_id, carton),
    foreign key (merchant_id, shipment_id) references outbound_shipment,
    constraint a_carton_is_numbered_once unique (merchant_id, shipment_id, key),
    constraint references_have_type_and_identifier check ((reference_type is null) = (reference_identifier is null))
);

-- The units of shipments, by carton and in the order in which they came.
create table shipment_unit (
    merchant_id uuid not null,
    shipment_id uuid not null,
    carton integer not null,
    position integer not null,
    -- Whether its shipment was cancelled, so that the unit can be in another.
    released boolean not null,
    condition text not null,
    line_identifier text collate "C" not null,
    unit_identifier text collate "C" not null,
    program_identifier text not null,
    client_unit_identifier text,
    inbound_received_asn text,
    sku text not null,
    upc text,
    vendor_identifier text,
    serial_number text,
    merchant text,
    eligibility_flags text[],
    primary key (merchant_id, shipment_id, carton, position),
    foreign key (merchant_id, shipment_id) references outbound_shipment
);

create unique index a_line_is_once_in_a_shipment on shipment_unit (merchant_id, shipment_id, line_identifier);
create unique index a_unit_is_in_one_shipment on shipment_unit (merchant_id, unit_identifier) where not released;

-- How a shipment is split into messages: where each part begins, and how many lines it has.
create table shipment_part (
    merchant_id uuid not null,
    shipment_id uuid not null,
    part integer not null constraint parts_count_from_one check (part >= 1),
    first_carton integer not null,
    first_position integer not null,
    lines integer not null constraint a_part_has_1_to_500_lines check (lines between 1 and 500),
    asn_number text collate "C" not null,
    primary key (merchant_id, shipment_id, part),
    foreign key (merchant_id, shipment_id) references outbound_shipment
);
