-- Places that goods leave and go to. A warehouse has our own id for it, such as `WH-1`, and the identifiers that the merchant's
-- systems know it by.
create table warehouse (
    merchant_id uuid not null,
    changed_at timestamptz not null,
    warehouse_id text collate "C" not null,
    name text not null,
    external_identifier text,
    stock_transfer_identifier text,
    address_name text not null,
    company text,
    street text not null,
    street2 text,
    city text not null,
    state text not null,
    zip text not null,
    primary key (merchant_id, warehouse_id)
);

-- Vendors, to whom goods go back. Merchants' systems know them by their number, so that a number is never given again: a vendor
-- that is removed keeps its row.
create table vendor (
    merchant_id uuid not null,
    vendor_id bigint not null constraint vendors_count_from_one check (vendor_id >= 1),
    changed_at timestamptz not null,
    removed_at timestamptz,
    name text not null,
    address_name text not null,
    company text,
    street text not null,
    street2 text,
    city text not null,
    state text not null,
    zip text not null,
    primary key (merchant_id, vendor_id)
);
