//! The warehouse: places, inbound and outbound shipments, drop shipping.

pub mod asn;
pub mod drop_ship;
pub mod inbound;
pub mod place;
pub mod shipment;
