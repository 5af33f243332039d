-- no-transaction
-- The work list of one person, of nobody and of a merchant, and what was resolved.
create index concurrently if not exists receiving_exception_by_owner on receiving_exception (owner, exception_id) where resolved_at is null;

create index concurrently if not exists receiving_exception_open_of on receiving_exception (merchant_id, exception_id) where resolved_at is null;

create index concurrently if not exists receiving_exception_resolved on receiving_exception (exception_id) where resolved_at is not null;

-- What the console lists of the warehouse: by state, of one merchant and of all, newest first.
create index concurrently if not exists inbound_asn_by_state on inbound_asn (state, asn_id);

create index concurrently if not exists inbound_asn_of_by_state on inbound_asn (merchant_id, state, asn_id);

create index concurrently if not exists outbound_shipment_by_state on outbound_shipment (state, shipment_id);

create index concurrently if not exists outbound_shipment_of_by_state on outbound_shipment (merchant_id, state, shipment_id);

create index concurrently if not exists drop_ship_order_by_state on drop_ship_order (status, drop_ship_order_id);

create index concurrently if not exists rma_expected_by_age on rma (rma_id) where expected;
