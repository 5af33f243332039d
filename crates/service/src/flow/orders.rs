//! Flows on orders.

pub mod accept_orders;
pub mod count_intake;
pub mod forget_outdated;
pub mod import_orders;
pub mod keep_refusal;
pub mod renew_fingerprints;
mod renew_suppressions;
pub mod view_shopper;
