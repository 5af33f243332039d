//! The transports of a message: a call to the merchant's endpoint or the operator's webhook, a mail, a carrier's API.

pub mod answer;
mod carrier;
pub(super) mod dispatch;
pub mod mail;
pub mod operator_hook;
pub(super) mod peer;
pub mod shown;
