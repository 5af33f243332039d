//! Places, inbound ASNs and receipts, outbound shipments, and drop shipping.

pub mod across;
pub mod drop_ship_cancellations;
pub mod drop_ship_orders;
pub mod drop_shipments;
pub mod exception_notes;
pub mod exception_pages;
pub mod inbound_asn_pages;
pub mod inbound_asns;
pub mod places;
pub mod provenance;
pub mod receipts;
pub mod receiving_exceptions;
pub mod reference;
pub mod returned_units;
pub mod shipment_unit_pages;
pub mod shipment_units;
pub mod shipments;
