//! The ways in which a message goes out: a call to an endpoint, a mail, the operator's webhook, a carrier.

mod carrier;
pub(super) mod dispatch;
pub mod mail;
pub mod operator_hook;
pub(super) mod peer;
