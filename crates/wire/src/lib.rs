//! What others see: the shapes of the messages, and how a wrong one is explained.
//!
//! The cast, in the order in which a message meets them:
//!
//! - [`json`] turns bytes into text that is safe to parse, and text into a value with every oddity noted.
//! - [`shape`] is the vocabulary of fields: each knows how to read itself and how to describe itself, so that the
//!   typed fast path and the published JSON Schema come from one declaration.
//! - [`order`] declares the order message with that vocabulary and is the road in: [`order::read`].
//! - [`schema`] holds the published schema and explains, fault by fault, a message that the fast path refused.
//! - [`fault`] is how a fault is told: field, code, message.
//! - [`import`] is the history import; [`token`] and [`answer`] are the token exchange and the bodies of the answers.
//! - [`rma`] is the message on a return; [`returns`] is how returns are started and looked at; [`carrier`] what carriers report.
//! - [`exchange_order`] is the order for what a shopper has instead of the money, and the merchant's answer.
//! - [`variants`] is what merchants offer for an exchange, and what shoppers see of it.
//! - [`drop_ship`] is how drop-ship orders are given, worked on and looked at; [`drop_shipment`] are the messages on them.
//! - [`inbound`] is what merchants announce to a warehouse; [`receiving`] what the warehouse scans of it; [`inventory_receipt`] the
//!   message on a unit that was received.
//! - [`asn`] has the fields that goods on their way have in common, in and out.
//! - [`label`] is what is asked of carriers; [`easypost`] is how it is asked of one of them.
//! - [`outbound_asn`] is the message on a shipment; [`outbound_shipment`] is how shipments are made and looked at.
//! - [`event`] is the feed of messages that went out, and its cursors.
//! - [`report`] is what became of messages.
//! - [`message`] is what merchants see of the messages to them.
//! - [`endpoint_test`] is the trial that an operator sends to an endpoint; [`headers`] are those of all messages we send.
//! - [`mail`] is a mail as it is kept until it is sent; [`notice`] is what the operator's systems are told of endpoints.
//! - [`webhook`] is how all of them are published.
//!
//! Wire names stand here and nowhere else. Types that carry personal data or secrets have no `Debug`, so that they
//! cannot be printed.

pub mod answer;
pub mod asn;
pub mod carrier;
pub mod drop_ship;
pub mod drop_shipment;
pub mod easypost;
pub mod endpoint_test;
pub mod event;
pub mod exchange_order;
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
pub mod returns;
pub mod rma;
pub mod schema;
pub mod shape;
pub mod time;
pub mod token;
pub mod variants;
pub mod webhook;
