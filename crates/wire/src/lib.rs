//! The wire formats: requests, responses and messages, and the explanation of an invalid one.
//!
//! Modules, in the order in which a message passes through them:
//!
//! - [`json`] turns bytes into text that is safe to parse, and text into a value with every irregularity noted.
//! - [`shape`] is the vocabulary of fields. Each field type reads and describes itself, so that the typed fast path and the
//!   published JSON Schema come from one declaration.
//! - [`order`](orders::order) declares the order message with that vocabulary and reads it: [`order::read`](orders::order::read).
//! - `request` reads every other request; `explainer` finds the faults of one that the fast path refused.
//! - [`schema`] lists the published schemas.
//! - [`fault`] is a reported fault: field, code, message.
//! - [`page`] has the parameters of lists.
//! - [`import`](orders::import) is the history import; [`token`](merchants::token) is the token exchange; [`answer`] has the common response bodies.
//! - [`rma`](returns::rma) is the message about a return; [`returns`](returns::api) has the requests to start and view returns; [`carrier`](returns::carrier) has carrier events.
//! - [`exchange_order`](returns::exchange_order) is the message that orders an exchange, and the merchant's answer.
//! - [`variants`](returns::variants) has the variants that a merchant offers for an exchange, and their form for shoppers.
//! - [`drop_ship`](warehouse::drop_ship) has the requests about drop-ship orders; [`drop_shipment`](warehouse::drop_shipment) has the messages about them.
//! - [`inbound`](warehouse::inbound) has the ASNs that merchants announce; [`receiving`](warehouse::receiving) has the units that a warehouse scans; [`inventory_receipt`](warehouse::inventory_receipt) is
//!   the message about a received unit.
//! - [`asn`](warehouse::asn) has the fields that inbound and outbound ASNs have in common.
//! - [`label`](returns::label) is a request to a carrier; [`easypost`](returns::easypost) is its form for EasyPost.
//! - [`outbound_asn`](warehouse::outbound_asn) is the message about a shipment; [`outbound_shipment`](warehouse::outbound_shipment) has the requests to create and view shipments.
//! - [`event`](messages::event) is the feed of messages, with its cursors.
//! - [`report`](messages::report) is the report of deliveries.
//! - [`message`](messages::message) has the views of messages and endpoints for merchants.
//! - [`endpoint_test`](messages::endpoint_test) is an operator's test message; [`headers`](messages::headers) are the headers of all messages.
//! - [`mail`](messages::mail) is a stored mail; [`notice`](messages::notice) is a notice to the operator's systems about an endpoint.
//! - [`webhook`](messages::webhook) publishes all messages as OpenAPI webhooks.
//! - [`otlp`](node::otlp) has the spans that the operator's collector is sent.
//! - [`examples`] has an example of everything that is published.
//!
//! Wire names appear only in this crate. Types that carry personal data or secrets have no `Debug`, so that they cannot be
//! printed.

pub mod answer;
pub mod examples;
mod explainer;
pub mod fault;
pub mod json;
pub mod merchants;
pub mod messages;
pub mod node;
pub mod orders;
pub mod page;
mod request;
pub mod returns;
pub mod schema;
pub mod shape;
pub mod time;
pub mod warehouse;
