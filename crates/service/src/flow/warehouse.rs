//! Flows on the warehouse: places, ASNs, receiving, shipments, drop shipping.

pub mod add_units;
pub mod announce_asns;
pub mod cancel_drop_ship_order;
pub mod change_asn;
pub mod close_asn;
pub mod configure_place;
pub mod create_shipment;
pub mod forget_outdated;
pub mod move_shipment;
pub mod receive_units;
pub mod save_drop_ship_order;
mod save_shipment;
pub mod ship_drop_ship_order;
pub mod take_drop_ship_orders;
pub mod work_on_exception;
