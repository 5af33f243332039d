//! The handlers of the API, one module per resource.

pub(super) mod carrier_events;
pub(super) mod carrier_webhooks;
pub(super) mod drop_ship_orders;
pub(super) mod drop_ship_reports;
pub(super) mod endpoints;
pub(super) mod event_stream;
pub(super) mod events;
pub(super) mod exchange_options;
pub(super) mod imports;
pub(super) mod inbound_asns;
pub(super) mod messages;
pub(super) mod orders;
pub(super) mod outbound_shipments;
pub(super) mod receiving;
pub(super) mod reports;
pub(super) mod returns;
pub(super) mod tokens;
