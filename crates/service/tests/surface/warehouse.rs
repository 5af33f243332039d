//! The warehouse: inbound ASNs and receiving, outbound shipments, and drop shipping.

mod console_exceptions;
mod console_warehouse;
mod drop_ship;
mod drop_ship_messages;
mod drop_ship_model;
mod drop_ship_races;
mod drop_ship_reports;
mod exceptions_command;
mod inbound_asns;
mod inbound_exceptions;
mod inbound_messages;
mod inbound_received;
mod inbound_returns;
mod inbound_together;
mod outbound_messages;
mod outbound_model;
mod outbound_received;
mod outbound_shipments;
mod outbound_split;
mod outbound_transport;
mod outbound_units;
mod places_command;
mod returns_without_asn;
mod simulated;
