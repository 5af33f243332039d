//! Returns, exchanges, withdrawals, the work list, and carriers.

pub(in crate::http) mod carrier_events;
pub(in crate::http) mod carrier_webhooks;
pub(in crate::http) mod exchange_options;
pub(in crate::http) mod exchanges;
pub(in crate::http) mod portal_links;
pub(in crate::http) mod rmas;
pub(in crate::http) mod withdrawals;
pub(in crate::http) mod work_items;

/// The actor in the audit log.
const ACTOR: &str = "merchant";
