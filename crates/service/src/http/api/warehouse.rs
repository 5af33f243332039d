//! Inbound ASNs, expected returns, receiving, outbound shipments, and drop-ship orders.

pub(in crate::http) mod drop_ship_orders;
pub(in crate::http) mod drop_ship_reports;
pub(in crate::http) mod expected_returns;
pub(in crate::http) mod inbound_asns;
pub(in crate::http) mod outbound_shipments;
pub(in crate::http) mod receiving;
