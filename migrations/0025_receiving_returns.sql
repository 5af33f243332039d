-- A unit is received against an ASN or for a return: one receipt either way, because a license plate is received once.
alter table receipt
    alter column asn_id drop not null,
    -- The return, if the unit was received for it without an ASN; its line is then that of the order.
    add column rma_id uuid,
    add constraint received_against_an_asn_or_for_a_return check ((asn_id is null) <> (rma_id is null)),
    add foreign key (merchant_id, rma_id) references rma;

-- Whether the warehouse still waits for a unit of the return.
alter table rma add column expected boolean not null default false;
update rma set expected = true
where status <> 'CANCELED' and exists (
    select from rma_item as item
    where item.merchant_id = rma.merchant_id and item.rma_id = rma.rma_id and item.receiving in ('PENDING', 'NOT_RECEIVED')
);
create index rma_expected on rma (merchant_id, rma_id) where expected;

-- From here on, the asn_number of a receiving_exception is what the unit was scanned for: the number of an ASN, `rma <identifier>`,
-- or `tracking <number>` of a parcel that nobody knows.

-- A store may be the sender.
alter table outbound_shipment
    add column from_type text not null default 'warehouse' constraint from_type_is_known check (from_type in ('warehouse', 'store'));

-- What the unit's receipt says it belongs to; told of a carton whose reference was not stated.
alter table shipment_unit
    add column reference_type text,
    add column reference_identifier text,
    add column reference_alternate text,
    add constraint reference_of_a_unit_is_whole check ((reference_type is null) = (reference_identifier is null));
