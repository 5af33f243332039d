//! Delivery, the feed and retries under load and faults.

pub(crate) mod backlog;
mod bare_delivery;
pub(crate) mod delivery;
pub(crate) mod delivery_chaos;
pub(crate) mod delivery_crash;
pub(crate) mod delivery_freeze;
pub(crate) mod delivery_outage;
pub(crate) mod feed;
mod feed_history;
pub(crate) mod history;
pub(crate) mod isolation;
pub(crate) mod leasing;
pub(crate) mod owing;
pub(crate) mod retry;
pub(crate) mod rollups;
pub(crate) mod witness;
