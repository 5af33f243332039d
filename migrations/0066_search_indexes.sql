-- no-transaction
-- The console's search finds returns, parcels, units and ASNs of all merchants by their identifiers.
create index concurrently if not exists rma_searched on rma (identifier);

create index concurrently if not exists parcel_searched on parcel (tracking_number);

create index concurrently if not exists receipt_searched on receipt (unit_identifier);

create index concurrently if not exists inbound_asn_searched on inbound_asn (asn_number);

create index concurrently if not exists outbound_shipment_searched on outbound_shipment (asn_number);
