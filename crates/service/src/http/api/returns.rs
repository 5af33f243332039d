//! Returns, exchange options, and carriers.

pub(in crate::http) mod carrier_events;
pub(in crate::http) mod carrier_webhooks;
pub(in crate::http) mod exchange_options;
pub(in crate::http) mod rmas;
