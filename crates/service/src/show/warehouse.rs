//! ASNs, receipts, shipments and drop-ship orders as they are shown.

pub mod drop_ship;
pub mod expected_returns;
pub mod inbound;
pub mod shipments;
