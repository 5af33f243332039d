//! Messages, events, reports and webhooks on the wire.

pub mod csv;
pub mod endpoint_check;
pub mod endpoint_test;
pub mod event;
pub mod headers;
pub mod mail;
pub mod message;
pub mod notice;
pub mod report;
pub mod webhook;
