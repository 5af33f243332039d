//! ASNs, receipts, shipments and drop-ship orders on the wire.

pub mod asn;
pub mod drop_ship;
pub mod drop_shipment;
pub mod expected_returns;
pub mod inbound;
pub mod inventory_receipt;
pub mod outbound_asn;
pub mod outbound_shipment;
pub mod receiving;
