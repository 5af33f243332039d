//! The wire formats: requests, responses and messages, and the explanation of an invalid one.
//!
//! Modules, in the order in which a message passes through them:
//!
//! - [`json`] turns bytes into text that is safe to parse, and text into a value with every irregularity noted.
//! - [`shape`] is the vocabulary of fields. Each field type reads and describes itself, so that the typed fast path and the
//!   published JSON Schema come from one declaration.
//! - [`order`] declares the order message with that vocabulary and reads it: [`order::read`].
//! - `request` reads every other request; `explainer` finds the faults of one that the fast path refused.
//! - [`schema`] lists the published schemas.
//! - [`fault`] is a reported fault: field, code, message.
//! - [`import`] is the history import; [`token`] is the token exchange; [`answer`] has the common response bodies.
//! - [`rma`] is the message about a return; [`returns`] has the requests to start and view returns; [`carrier`] has carrier events.
//! - [`exchange_order`] is the message that orders an exchange, and the merchant's answer.
//! - [`variants`] has the variants that a merchant offers for an exchange, and their form for shoppers.
//! - [`drop_ship`] has the requests about drop-ship orders; [`drop_shipment`] has the messages about them.
//! - [`inbound`] has the ASNs that merchants announce; [`receiving`] has the units that a warehouse scans; [`inventory_receipt`] is
//!   the message about a received unit.
//! - [`asn`] has the fields that inbound and outbound ASNs have in common.
//! - [`label`] is a request to a carrier; [`easypost`] is its form for EasyPost.
//! - [`outbound_asn`] is the message about a shipment; [`outbound_shipment`] has the requests to create and view shipments.
//! - [`event`] is the feed of messages, with its cursors.
//! - [`report`] is the report of deliveries.
//! - [`message`] has the views of messages and endpoints for merchants.
//! - [`endpoint_test`] is an operator's test message; [`headers`] are the headers of all messages.
//! - [`mail`] is a stored mail; [`notice`] is a notice to the operator's systems about an endpoint.
//! - [`webhook`] publishes all messages as OpenAPI webhooks.
//!
//! Wire names appear only in this crate. Types that carry personal data or secrets have no `Debug`, so that they cannot be
//! printed.

pub mod answer;
pub mod asn;
pub mod carrier;
pub mod drop_ship;
pub mod drop_shipment;
pub mod easypost;
pub mod endpoint_test;
pub mod event;
pub mod exchange_order;
mod explainer;
pub mod fault;
pub mod headers;
pub mod import;
pub mod inbound;
pub mod inventory_receipt;
pub mod json;
pub mod label;
pub mod mail;
pub mod message;
pub mod notice;
pub mod order;
pub mod outbound_asn;
pub mod outbound_shipment;
pub mod receiving;
pub mod report;
mod request;
pub mod returns;
pub mod rma;
pub mod schema;
pub mod shape;
pub mod time;
pub mod token;
pub mod variants;
pub mod webhook;
