-- Orders that the warehouse ships to merchants' shoppers. Their sequence grows by one with every message on them.
create table drop_ship_order (
    merchant_id uuid not null,
    drop_ship_order_id uuid not null,
    billing_address_id uuid not null,
    shipping_address_id uuid not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    sequence bigint not null constraint drop_ship_sequences_count_from_zero check (sequence >= 0),
    status text not null constraint drop_ship_status_is_known
        check (status in ('accepted', 'partially_shipped', 'shipped', 'cancelled', 'rejected')),
    client_identifier text collate "C" not null,
    -- What the merchant gave, in one form.
    content text compression lz4 not null,
    -- What the warehouse said when it called the order off.
    reject_reason text,
    comments text,
    primary key (merchant_id, drop_ship_order_id),
    constraint a_drop_ship_order_is_given_once unique (merchant_id, client_identifier),
    constraint rejected_with_a_reason check (status <> 'rejected' or reject_reason is not null)
) with (fillfactor = 80);

create index drop_ship_order_by_status on drop_ship_order (merchant_id, status, drop_ship_order_id);

-- The items of a drop-ship order, and how many units of each have left or were called off.
create table drop_ship_item (
    merchant_id uuid not null,
    drop_ship_order_id uuid not null,
    item_id uuid not null,
    position integer not null,
    ordered integer not null constraint something_is_ordered check (ordered >= 1),
    shipped integer not null,
    cancelled integer not null,
    primary key (merchant_id, drop_ship_order_id, position),
    foreign key (merchant_id, drop_ship_order_id) references drop_ship_order,
    constraint units_are_not_negative check (shipped >= 0 and cancelled >= 0),
    constraint shipped_and_cancelled_at_most_ordered check (shipped + cancelled <= ordered)
) with (fillfactor = 80);

-- Shipments of drop-ship orders, each under the warehouse's name for it.
create table drop_shipment (
    merchant_id uuid not null,
    drop_ship_order_id uuid not null,
    shipment_id uuid not null,
    created_at timestamptz not null,
    identifier text collate "C" not null,
    -- What the warehouse reported, in one form.
    content text compression lz4 not null,
    constraint a_drop_shipment_is_reported_once primary key (merchant_id, drop_ship_order_id, identifier),
    foreign key (merchant_id, drop_ship_order_id) references drop_ship_order
);

-- The units in a shipment.
create table drop_shipment_item (
    merchant_id uuid not null,
    drop_ship_order_id uuid not null,
    shipment_id uuid not null,
    shipment_item_id uuid not null,
    position integer not null,
    -- The position of the item in the order.
    item integer not null,
    quantity integer not null constraint something_is_shipped check (quantity >= 1),
    primary key (merchant_id, drop_ship_order_id, shipment_id, position),
    foreign key (merchant_id, drop_ship_order_id, item) references drop_ship_item
);

-- Which reports of units that were called off have taken effect, each under the warehouse's name for it.
create table drop_ship_cancellation (
    merchant_id uuid not null,
    drop_ship_order_id uuid not null,
    created_at timestamptz not null,
    identifier text collate "C" not null,
    content text compression lz4 not null,
    constraint a_cancellation_is_reported_once primary key (merchant_id, drop_ship_order_id, identifier),
    foreign key (merchant_id, drop_ship_order_id) references drop_ship_order
);
